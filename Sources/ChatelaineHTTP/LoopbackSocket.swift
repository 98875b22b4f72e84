internal import Glibc
internal import SDBus

/// A listening socket on 127.0.0.1, at a port that the kernel picks; closed with its last reference.
final class LoopbackSocket {
    let descriptor: UnixFD
    let port: UInt16

    /// Nil where the system has none to give.
    init?() {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let number = socket(AF_INET, kind, 0)
        guard number >= 0 else { return nil }
        let descriptor = UnixFD(owning: number)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard unsafe bind(number, address, length) == 0, listen(number, 16) == 0 else {
                    return Int32(-1)
                }
                return unsafe getsockname(number, address, &length)
            }
        }
        guard result == 0 else { return nil }
        port = UInt16(bigEndian: address.sin_port)
        self.descriptor = descriptor
    }

    /// The next connection that waits; nil when none does.
    func accept() -> UnixFD? {
        let number = Glibc.accept(descriptor.number, nil, nil)
        guard number >= 0 else { return nil }
        let connection = UnixFD(owning: number)
        guard fcntl(number, F_SETFD, FD_CLOEXEC) == 0, fcntl(number, F_SETFL, O_NONBLOCK) == 0 else {
            return nil
        }
        return connection
    }
}
