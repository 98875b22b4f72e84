internal import BrokerHost
internal import Chatelaine
internal import Console
internal import SDBus
internal import Sodium

/// The process of a helper.
public enum HelperProcess {
    /// Runs the body with the program's arguments, and ends with the status that it gives.
    public static func run(_ body: @escaping @BrokerActor ([String]) async -> Int32) -> Never {
        StandardStreams.forbidCoreDumps()
        let loop = BrokerActor.shared.loop
        BrokerActor.start { loop.stop(code: await body(Array(CommandLine.arguments.dropFirst()))) }
        let code = loop.run()
        ExitStatus.exit(code < 0 ? 1 : code)
    }

    /// Connects to the broker.
    @BrokerActor static func connect(to endpoint: Endpoint) throws(HelperFailure) -> Broker {
        do throws(ChatelaineError) {
            return try Broker.connect(to: endpoint)
        } catch {
            throw HelperFailure("the bus cannot be reached: \(error.description.printable)")
        }
    }

    /// All of standard input.
    static func readInput(limit: Int) throws(HelperFailure) -> SharedSecret {
        do throws(StreamFailure) {
            return SharedSecret(try StandardStreams.readAll(limit: limit))
        } catch {
            throw HelperFailure(error)
        }
    }

    /// Writes to standard output.
    static func write(_ secret: borrowing Secret) throws(HelperFailure) {
        do throws(StreamFailure) { try StandardStreams.write(secret) } catch { throw HelperFailure(error) }
    }

    /// Writes to standard output what is no secret.
    static func write(_ text: String) throws(HelperFailure) {
        do throws(StreamFailure) { try StandardStreams.write(text) } catch { throw HelperFailure(error) }
    }

    /// How long a broker may take, unless the arguments say otherwise: time enough for a person who is asked to be there.
    static let patienceSeconds: UInt32 = 60
}
