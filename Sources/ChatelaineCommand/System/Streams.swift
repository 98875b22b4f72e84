internal import BrokerModel
internal import Console
internal import Sodium

/// The process's streams, for verbs: what goes wrong is a failure of the command.
enum Streams {
    /// Whether a person is at the other end.
    static func isTerminal(_ descriptor: Int32) -> Bool { StandardStreams.isTerminal(descriptor) }

    /// Writes to standard output.
    static func write(_ text: String) throws(Failure) {
        do throws(StreamFailure) { try StandardStreams.write(text) } catch { throw Failure(error) }
    }

    /// Writes a secret to standard output, as it is.
    static func write(_ secret: borrowing Secret) throws(Failure) {
        do throws(StreamFailure) { try StandardStreams.write(secret) } catch { throw Failure(error) }
    }

    /// All of standard input, as far as a secret may be as large.
    static func readAll() throws(Failure) -> Secret {
        do throws(StreamFailure) {
            return try StandardStreams.readAll(limit: Limits.secretBytesMax)
        } catch {
            throw Failure(error)
        }
    }

    /// A line of standard input without its newline.
    static func readLine() throws(Failure) -> StandardStreams.Line {
        do throws(StreamFailure) { return try StandardStreams.readLine() } catch { throw Failure(error) }
    }
}

extension Failure {
    fileprivate init(_ failure: StreamFailure) {
        self.init(failure == .lineTooLong ? .usage : .failed, failure.text)
    }
}
