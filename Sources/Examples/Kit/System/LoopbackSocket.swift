internal import Glibc

/// A TCP connection inside this machine. Reading and writing block, for a few seconds at most.
public final class LoopbackSocket: Sendable {
    private let descriptor: Int32

    private static let secondsMax = 10
    private static let chunkBytesMax = 4096

    init(owning descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    // Not for a listener: it waits for whoever comes, however late.
    private func limitTime() {
        var time = timeval()
        time.tv_sec = Self.secondsMax
        let size = socklen_t(MemoryLayout<timeval>.size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, size)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, size)
    }

    /// Connects; nil where nobody listens.
    public static func connect(port: UInt16) -> LoopbackSocket? {
        guard let socket = makeSocket() else { return nil }
        socket.limitTime()
        guard unsafe withAddress(port, { unsafe Glibc.connect(socket.descriptor, $0, $1) }) == 0 else {
            return nil
        }
        return socket
    }

    /// Sends all of it; false when the other end is gone.
    @discardableResult public func send(_ bytes: [UInt8]) -> Bool {
        var left = bytes[...]
        while !left.isEmpty {
            let count = unsafe left.withUnsafeBytes { buffer in
                unsafe Glibc.send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            left = left.dropFirst(count)
        }
        return true
    }

    /// What comes next, of any length; nothing where nothing more will come.
    public func receive() -> [UInt8] {
        var chunk = [UInt8](repeating: 0, count: Self.chunkBytesMax)
        while true {
            let count = unsafe recv(descriptor, &chunk, chunk.count, 0)
            if count < 0 && errno == EINTR { continue }
            return Array(chunk.prefix(max(count, 0)))
        }
    }

    static func makeSocket() -> LoopbackSocket? {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_INET, type, 0)
        return descriptor < 0 ? nil : LoopbackSocket(owning: descriptor)
    }

    static func withAddress(
        _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        return unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, size) }
        }
    }

    /// The port at this end.
    var port: UInt16 {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = unsafe withUnsafeMutablePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &size)
            }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    func bindAndListen(port: UInt16) -> Bool {
        guard unsafe Self.withAddress(port, { unsafe bind(descriptor, $0, $1) }) == 0 else { return false }
        return listen(descriptor, SOMAXCONN) == 0
    }

    func acceptNext() -> LoopbackSocket? {
        while true {
            let accepted = accept(descriptor, nil, nil)
            if accepted >= 0 {
                let socket = LoopbackSocket(owning: accepted)
                socket.limitTime()
                return socket
            }
            guard errno == EINTR || errno == ECONNABORTED else { return nil }
        }
    }
}
