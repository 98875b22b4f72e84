import Glibc
import SDBus

/// Descriptors for tests.
enum Files {
    static var processID: UInt32 { UInt32(getpid()) }

    static func open(_ path: String) throws(BusError) -> UnixFD {
        let number = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
        if number < 0 { throw BusError(errno: errno) }
        return UnixFD(owning: number)
    }

    static func contents(_ fd: consuming UnixFD) throws(BusError) -> String {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe pread(fd.number, &bytes, bytes.count, 0)
        if count < 0 { throw BusError(errno: errno) }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
