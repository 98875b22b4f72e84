internal import Glibc
internal import SDBus

/// One end of a Unix socket, for tests that speak bytes. It blocks on a thread of its own.
public final class RawSocket: Sendable {
    private let thread = WorkThread(name: "raw socket")
    private let descriptor: Int32

    /// Takes the descriptor over.
    public init(owning descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// A connected pair: one end for bytes, the other's number, which the caller owns.
    public static func pair() throws -> (RawSocket, other: Int32) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            throw TestFailure("no socket pair: errno \(errno)")
        }
        return (RawSocket(owning: ends[0]), ends[1])
    }

    /// A datagram socket that is bound to the path.
    public static func datagrams(at path: String) throws -> RawSocket {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        unsafe try named(descriptor, path) { unsafe bind(descriptor, $0, $1) }
        return RawSocket(owning: descriptor)
    }

    /// A socket that listens at the path; its number, which the caller owns.
    public static func listener(at path: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        unsafe try named(descriptor, path) { unsafe bind(descriptor, $0, $1) }
        guard listen(descriptor, 16) == 0 else { throw TestFailure("cannot listen: errno \(errno)") }
        return descriptor
    }

    /// One socket as two, so that who waits to read keeps nobody from writing.
    public typealias Ends = (from: RawSocket, to: RawSocket)

    /// The next connection to a listener, which it waits for; nil when that was shut down.
    public static func accept(from listener: Int32) async -> Ends? {
        let descriptor = await WorkThread(name: "accept").run { Glibc.accept(listener, nil, nil) }
        return descriptor < 0 ? nil : ends(descriptor)
    }

    /// Connects to whoever listens at the path.
    public static func connected(to path: String) throws -> Ends {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        unsafe try named(descriptor, path) { unsafe connect(descriptor, $0, $1) }
        return ends(descriptor)
    }

    private static func ends(_ descriptor: Int32) -> Ends {
        (RawSocket(owning: descriptor), RawSocket(owning: fcntl(descriptor, F_DUPFD_CLOEXEC, 0)))
    }

    /// Writes all of it, waiting for room. False when the other end is gone.
    @discardableResult
    public func write(_ bytes: [UInt8]) async -> Bool {
        let descriptor = descriptor
        return await thread.run {
            var left = bytes[...]
            while !left.isEmpty {
                let count = unsafe left.withUnsafeBytes { buffer in
                    unsafe send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
                }
                if count <= 0 { return false }
                left = left.dropFirst(count)
            }
            return true
        }
    }

    /// Reads what is there, waiting for the first byte. Empty when the other end is gone.
    public func read(_ countMax: Int = 65_536) async -> [UInt8] {
        let descriptor = descriptor
        return await thread.run {
            var buffer = [UInt8](repeating: 0, count: countMax)
            let count = unsafe recv(descriptor, &buffer, countMax, 0)
            return Array(buffer[..<max(count, 0)])
        }
    }

    /// Ends the conversation in both directions; a `read` that waits is woken.
    public func shutdown() {
        Glibc.shutdown(descriptor, Int32(SHUT_RDWR))
    }

    private static func named(
        _ descriptor: Int32, _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { bytes in
            for (index, byte) in path.utf8.enumerated() { unsafe bytes[index] = byte }
        }
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe body(pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw TestFailure("\(path) cannot be used: errno \(errno)") }
    }
}
