internal import Glibc

/// A path as the address of a Unix socket.
struct UnixAddress {
    /// The longest path that the kernel takes, in bytes.
    static let pathBytesMax = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    private var address = sockaddr_un()

    /// Nil for a path that is too long, empty, or no C string.
    init?(path: String) {
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count <= Self.pathBytesMax, !bytes.contains(0) else { return nil }
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    }

    /// Lends the address to C.
    func withC<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe body(pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// A socket that is connected to the path, without waiting; throws the errno.
    func connected() throws(BusError) -> UnixFD {
        let socket = try Self.makeSocket()
        let result = unsafe withC { unsafe connect(socket.number, $0, $1) }
        guard result == 0 else { throw BusError(errno: errno) }
        return socket
    }

    /// A stream socket that never blocks.
    static func makeSocket() throws(BusError) -> UnixFD {
        let flags = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let number = socket(AF_UNIX, Int32(flags), 0)
        guard number >= 0 else { throw BusError(errno: errno) }
        return UnixFD(owning: number)
    }
}

extension Connection {
    /// A socket that is connected to whoever listens at the path, for `openDirect(fd:)` once its credentials have been
    /// looked at. It never waits: a listener whose queue is full counts as none.
    public static func connectDirect(path: String) throws(BusError) -> UnixFD {
        guard let address = UnixAddress(path: path) else { throw BusError(errno: ENAMETOOLONG) }
        return try address.connected()
    }
}
