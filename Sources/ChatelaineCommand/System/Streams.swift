internal import BrokerModel
internal import Glibc
internal import Sodium

/// The process's streams.
enum Streams {
    /// Whether a person is at the other end.
    static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// A crash must not leave a secret on the disk.
    static func forbidCoreDumps() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    }

    /// Writes to standard output.
    static func write(_ text: String) throws(Failure) {
        try write(Array(text.utf8).span, to: STDOUT_FILENO)
    }

    /// Writes a secret to standard output, as it is.
    static func write(_ secret: borrowing Secret) throws(Failure) {
        try write(secret.span, to: STDOUT_FILENO)
    }

    private static func write(_ bytes: Span<UInt8>, to descriptor: Int32) throws(Failure) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBufferPointer { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress! + written, bytes.count - written)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw Failure(.failed, "standard output cannot be written: \(problem)") }
            written += count
        }
    }

    /// All of standard input; one byte beyond a secret's limit is an error.
    static func readAll() throws(Failure) -> Secret {
        let limit = Limits.secretBytesMax
        var count = 0
        let all = try Secret(count: limit + 1) { (target) throws(Failure) in
            while count <= limit, let more = try read(into: &target, at: count, atMost: limit + 1 - count) {
                count += more
            }
        }
        guard count <= limit else {
            throw Failure(.failed, "standard input is larger than a secret may be, which is 1 MiB")
        }
        return Secret(copying: all.span.extracting(0..<count))
    }

    /// A line of standard input without its newline, which may be missing from the last. What follows stays
    /// for the next call.
    static func readLine() throws(Failure) -> Line {
        var count = 0
        var end = Line.End.input
        let line = try Secret(count: lineBytesMax + 1) { (target) throws(Failure) in
            while count <= lineBytesMax {
                guard try read(into: &target, at: count, atMost: 1) != nil else { return }
                if target[count] == UInt8(ascii: "\n") { return end = .newline }
                count += 1
            }
        }
        guard count <= lineBytesMax else { throw Failure(.usage, "a line of standard input is too long") }
        return Line(secret: Secret(copying: line.span.extracting(0..<count)), end: end)
    }

    /// What a terminal passes on of one line.
    private static let lineBytesMax = 4096

    /// A line, and what ended it.
    struct Line: ~Copyable {
        let secret: Secret
        let end: End

        enum End {
            case newline
            case input
        }
    }

    // Nil at the end.
    private static func read(
        into target: inout MutableSpan<UInt8>, at offset: Int, atMost limit: Int
    ) throws(Failure) -> Int? {
        var count = -1
        repeat {
            count = unsafe target.withUnsafeMutableBufferPointer { buffer in
                unsafe Glibc.read(STDIN_FILENO, buffer.baseAddress! + offset, limit)
            }
        } while count < 0 && errno == EINTR
        guard count >= 0 else { throw Failure(.failed, "standard input cannot be read: \(problem)") }
        return count == 0 ? nil : count
    }

    private static var problem: String { unsafe String(cString: strerror(errno)) }
}
