internal import Glibc

/// The two ends of a pipe, which no other program inherits.
public struct Pipe {
    /// Where it is read.
    public let reader: Int32
    /// Where it is written.
    public let writer: Int32

    /// Nil where the process may have no more descriptors.
    public init?() {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (reader, writer) = (ends[0], ends[1])
    }

    /// Closes both ends.
    public func close() {
        _ = Glibc.close(reader)
        _ = Glibc.close(writer)
    }

    /// Has reading and writing come back at once.
    public static func makeNonBlocking(_ descriptor: Int32) { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
}
