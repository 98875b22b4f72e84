internal import Glibc

/// What the kernel says of itself and of this machine.
public enum HostKernel {
    /// Whether a socket hands out the process at its other end (SO_PEERPIDFD, Linux 6.5).
    public static var pinsSocketPeers: Bool {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return false }
        defer { for end in ends { close(end) } }
        var descriptor: Int32 = -1
        var size = socklen_t(MemoryLayout<Int32>.size)
        // SO_PEERPIDFD, which the C library's headers of Debian 12 do not have yet.
        guard unsafe getsockopt(ends[0], SOL_SOCKET, 77, &descriptor, &size) == 0 else { return false }
        close(descriptor)
        return true
    }

    /// The text of a small file, such as those of `/proc` and `/sys`, without white space at its end; nil where
    /// it cannot be read.
    public static func text(_ path: String) -> String? {
        guard let file = try? HostFile.read(path, limit: 1 << 20) else { return nil }
        var bytes = file.bytes[...]
        while let last = bytes.last, last == 0x0A || last == 0x20 { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether this process can follow a link of `/proc`.
    public static func canFollow(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0
    }
}

/// What the file system says of a name, whose file is not opened.
public struct HostStatus: Sendable {
    /// Whether a program listens there, or did.
    public let isSocket: Bool
    /// The owner's user id.
    public let ownerID: UInt32

    /// Of the name itself, where it is a link; nil where there is nothing, or nothing to be seen.
    public init?(_ path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        isSocket = status.st_mode & S_IFMT == S_IFSOCK
        ownerID = status.st_uid
    }
}
