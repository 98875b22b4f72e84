internal import Console
internal import Glibc
internal import Sodium

/// A question with a yes or a no, for a person at a terminal.
enum Question {
    /// Whether somebody is there to be asked, and to see what is asked about.
    static var canBeAsked: Bool {
        [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].allSatisfy { StandardStreams.isTerminal($0) }
    }

    /// Asks on standard error. Whatever is not a clear yes is a no.
    static func ask(_ question: String) throws(Failure) -> Bool {
        let bytes = Array((question + " [y/N] ").utf8)
        _ = unsafe write(STDERR_FILENO, bytes, bytes.count)
        let line = try Streams.readLine()
        let letters = (0..<line.secret.count).map { line.secret.span[$0] | 0x20 }
        return letters == Array("y".utf8) || letters == Array("yes".utf8)
    }
}
