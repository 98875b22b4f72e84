internal import Glibc

extension ReceivedFD {
    /// Writes the bytes to a pipe or a socket, all of them and at once. Whoever sent the descriptor cannot make it wait:
    /// `InvalidArgs` for a descriptor of anything else, and `Failed` where there is no room, or nobody who reads.
    public func write(_ bytes: Span<UInt8>) throws(BusError) {
        let written =
            if isSocket {
                unsafe bytes.withUnsafeBufferPointer {
                    unsafe send(
                        number, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
                }
            } else {
                try writeToPipe(bytes)
            }
        if written < 0 && errno == EBADF { throw .notWritable }
        guard written == bytes.count else {
            throw .failed("The descriptor did not take what was to be written; nobody reads there.")
        }
    }

    // Only a socket has options.
    private var isSocket: Bool {
        var (kind, length) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        return unsafe getsockopt(number, SOL_SOCKET, SO_TYPE, &kind, &length) == 0
    }

    // Whether a write waits is a flag of the open file, which is the sender's too. So the pipe is opened once more. Nothing
    // is asked of the file itself, whose file system may be a process that does not answer.
    private func writeToPipe(_ bytes: Span<UInt8>) throws(BusError) -> Int {
        let access = fcntl(number, F_GETFL) & O_ACCMODE
        guard access == O_WRONLY || access == O_RDWR, isUnnamedPipe else { throw .notWritable }
        let pipe = unsafe open("/proc/self/fd/\(number)", O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        guard pipe >= 0 else { return -1 }
        defer { close(pipe) }
        return unsafe bytes.withUnsafeBufferPointer { unsafe Glibc.write(pipe, $0.baseAddress, $0.count) }
    }

    private var isUnnamedPipe: Bool {
        var start = [CChar](repeating: 0, count: 6)
        let length = unsafe readlink("/proc/self/fd/\(number)", &start, start.count)
        // A path would begin with a slash.
        return length == start.count && start == "pipe:[".utf8.map { CChar(bitPattern: $0) }
    }
}

extension BusError {
    fileprivate static let notWritable = BusError.invalidArguments(
        "The descriptor cannot be written; it has to be the writing end of a pipe, or a socket.")
}
