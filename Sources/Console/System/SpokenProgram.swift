internal import Glibc
public import Sodium

/// A program that is spoken with over its standard input and output, where what it says may be a secret. It is killed
/// with this process, and with the last reference.
public final class SpokenProgram {
    /// What there is to read.
    public enum Answer: ~Copyable {
        /// Nothing yet.
        case nothing
        /// Some bytes.
        case bytes(Secret)
        /// Nothing any more.
        case end
    }

    /// Where it is read: for a loop to wait on.
    public let output: Int32
    private let input: Int32
    private let process: Int32

    /// Starts it; nil where the system refuses. A program that is not there ends at once. The process that calls this
    /// ignores SIGPIPE.
    public init?(_ command: [String]) {
        guard let given = Pipe() else { return nil }
        guard let said = Pipe() else {
            given.close()
            return nil
        }
        guard let process = CommandStart.spawn(command, input: given.reader, output: said.writer) else {
            given.close()
            said.close()
            return nil
        }
        close(given.reader)
        close(said.writer)
        Pipe.makeNonBlocking(given.writer)
        Pipe.makeNonBlocking(said.reader)
        (self.process, input, output) = (process, given.writer, said.reader)
    }

    /// Whether such a file is there and may be run.
    public static func isThere(_ path: String) -> Bool { unsafe access(path, X_OK) == 0 }

    /// Says a few words to it. False where it does not take them all at once.
    public func write(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return unsafe Glibc.write(input, bytes, bytes.count) == bytes.count
    }

    /// What it has said since the last time, as far as it fits.
    public func read() -> Answer {
        var count = -1
        let chunk = Secret(count: Self.chunkBytes) { target in
            count = unsafe target.withUnsafeMutableBufferPointer { buffer in
                unsafe Glibc.read(output, buffer.baseAddress, buffer.count)
            }
        }
        if count < 0 && (errno == EAGAIN || errno == EINTR) { return .nothing }
        guard count > 0 else { return .end }
        return .bytes(Secret(copying: chunk.span.extracting(0..<count)))
    }

    /// Asks it to end, as a service's manager would.
    public func askToEnd() { kill(process, SIGTERM) }

    private static let chunkBytes = 1024

    deinit {
        close(input)
        close(output)
        // Its number is its own until it was waited for.
        kill(process, SIGKILL)
        while waitpid(process, nil, 0) < 0 && errno == EINTR {}
    }
}
