import Glibc

/// When a file came to be, which nothing changes later. The change time would not do for a file that is
/// looked at again after its replacement: losing its name changes it.
struct BirthTime: Sendable, Equatable {
    let seconds: Int64
    let nanoseconds: UInt32
}

extension Descriptor {
    /// Nil where the file system keeps no birth times.
    func birthTime() throws(SystemError) -> BirthTime? {
        // From linux/stat.h, the same everywhere: `struct statx` has 256 bytes, the mask at 0, the birth
        // time's seconds at 80 and its nanoseconds at 88.
        let emptyPath: Int32 = 0x1000
        let birthTimeMask: UInt32 = 0x800
        var words = [UInt64](repeating: 0, count: 32)
        guard unsafe statExtended(raw, "", emptyPath, birthTimeMask, &words) == 0 else { throw .last }
        return unsafe words.withUnsafeBytes { buffer in
            let mask = unsafe buffer.load(as: UInt32.self)
            guard mask & birthTimeMask != 0 else { return nil }
            return unsafe BirthTime(
                seconds: buffer.load(fromByteOffset: 80, as: Int64.self),
                nanoseconds: buffer.load(fromByteOffset: 88, as: UInt32.self))
        }
    }
}

// As in Kernel.swift: what the Glibc module leaves out.
@_silgen_name("statx")
private func statExtended(
    _ folder: Int32, _ name: UnsafePointer<CChar>, _ flags: Int32, _ mask: UInt32,
    _ result: UnsafeMutableRawPointer
) -> Int32
