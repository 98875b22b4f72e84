internal import Glibc
public import Sodium

/// A stream that could not be read or written; nothing in it is of what went through.
public enum StreamFailure: Error, Equatable {
    /// Standard input could not be read, for the system's reason.
    case unreadable(String)
    /// Standard output could not be written, for the system's reason.
    case unwritable(String)
    /// There is more than may be, in bytes.
    case tooLarge(limit: Int)
    /// A line is longer than a terminal's can be.
    case lineTooLong

    /// For a person.
    public var text: String {
        switch self {
        case .unreadable(let reason): "standard input cannot be read: \(reason)"
        case .unwritable(let reason): "standard output cannot be written: \(reason)"
        case .tooLarge(let limit) where limit % (1 << 20) == 0:
            "standard input is larger than it may be, which is \(limit >> 20) MiB"
        case .tooLarge(let limit): "standard input is larger than it may be, which is \(limit) bytes"
        case .lineTooLong: "a line of standard input is too long"
        }
    }
}

/// The process's streams.
public enum StandardStreams {
    /// Whether a person is at the other end.
    public static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// The terminal that standard input is; nil for what is none.
    public static var terminalName: String? {
        guard let name = unsafe ttyname(STDIN_FILENO) else { return nil }
        return unsafe String(cString: name)
    }

    /// A crash must not leave a secret on the disk.
    public static func forbidCoreDumps() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    }

    /// Writes to standard output.
    public static func write(_ text: String) throws(StreamFailure) {
        try write(Array(text.utf8).span, to: STDOUT_FILENO)
    }

    /// Writes a secret to standard output, as it is.
    public static func write(_ secret: borrowing Secret) throws(StreamFailure) {
        try write(secret.span, to: STDOUT_FILENO)
    }

    private static func write(_ bytes: Span<UInt8>, to descriptor: Int32) throws(StreamFailure) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBufferPointer { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress! + written, bytes.count - written)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw .unwritable(problem) }
            written += count
        }
    }

    /// All of standard input; one byte beyond the limit is an error.
    public static func readAll(limit: Int) throws(StreamFailure) -> Secret {
        var count = 0
        let all = try Secret(count: limit + 1) { (target) throws(StreamFailure) in
            while count <= limit, let more = try read(into: &target, at: count, atMost: limit + 1 - count) {
                count += more
            }
        }
        guard count <= limit else { throw .tooLarge(limit: limit) }
        return Secret(copying: all.span.extracting(0..<count))
    }

    /// A line of standard input without its newline, which may be missing from the last. What follows stays
    /// for the next call.
    public static func readLine() throws(StreamFailure) -> Line {
        var count = 0
        var end = Line.End.input
        let line = try Secret(count: lineBytesMax + 1) { (target) throws(StreamFailure) in
            while count <= lineBytesMax {
                guard try read(into: &target, at: count, atMost: 1) != nil else { return }
                if target[count] == UInt8(ascii: "\n") { return end = .newline }
                count += 1
            }
        }
        guard count <= lineBytesMax else { throw .lineTooLong }
        return Line(secret: Secret(copying: line.span.extracting(0..<count)), end: end)
    }

    /// What a terminal passes on of one line.
    private static let lineBytesMax = 4096

    /// A line, and what ended it.
    public struct Line: ~Copyable {
        /// Its bytes.
        public let secret: Secret
        /// What stood behind them.
        public let end: End

        /// Its bytes, for whoever keeps them.
        public consuming func take() -> Secret { secret }

        /// The ends of a line.
        public enum End {
            /// A newline.
            case newline
            /// The end of the input.
            case input
        }
    }

    // Nil at the end.
    private static func read(
        into target: inout MutableSpan<UInt8>, at offset: Int, atMost limit: Int
    ) throws(StreamFailure) -> Int? {
        var count = -1
        repeat {
            count = unsafe target.withUnsafeMutableBufferPointer { buffer in
                unsafe Glibc.read(STDIN_FILENO, buffer.baseAddress! + offset, limit)
            }
        } while count < 0 && errno == EINTR
        guard count >= 0 else { throw .unreadable(problem) }
        return count == 0 ? nil : count
    }

    private static var problem: String { unsafe String(cString: strerror(errno)) }
}
