internal import Foundation
internal import Glibc

/// Looks through all writable memory of this process.
public enum MemoryScan {
    private static let chunk = 1 << 20

    /// How often the bytes stand in memory. They are given masked, each xor `mask`, so that what is searched for is
    /// not itself there to be found.
    public static func count(masked: [UInt8], mask: UInt8) throws -> Int {
        let file = unsafe open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw TestFailure("no /proc/self/mem: errno \(errno)") }
        defer { close(file) }
        guard let buffer = unsafe mmap(nil, chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        else { throw TestFailure("no buffer") }
        defer { unsafe munmap(buffer, chunk) }
        // The buffer holds copies of what it has read, so it is not looked at.
        let own = UInt(bitPattern: buffer)..<UInt(bitPattern: buffer) + UInt(chunk)
        var found = 0
        for region in try regions() where !region.overlaps(own) {
            var start = region.lowerBound
            while start < region.upperBound {
                let size = min(chunk, Int(region.upperBound - start))
                let count = unsafe pread(file, buffer, size, off_t(start))
                if count <= masked.count { break }
                found += unsafe occurrences(UnsafeRawBufferPointer(start: buffer, count: count), masked, mask)
                unsafe memset(buffer, 0, count)
                // Overlap, so that no border hides a match.
                start += size == chunk ? UInt(chunk - masked.count + 1) : UInt(size)
            }
        }
        return found
    }

    private static func regions() throws -> [Range<UInt>] {
        let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
        return maps.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard fields[1].hasPrefix("rw"), ends.count == 2 else { return nil }
            return ends[0]..<ends[1]
        }
    }

    private static func occurrences(_ memory: UnsafeRawBufferPointer, _ masked: [UInt8], _ mask: UInt8) -> Int
    {
        var found = 0
        var offset = 0
        let last = memory.count - masked.count
        while offset <= last, let base = memory.baseAddress,
            let hit = unsafe memchr(base + offset, Int32(masked[0] ^ mask), last - offset + 1)
        {
            let start = unsafe UnsafeRawPointer(hit) - base
            if masked.indices.allSatisfy({ unsafe memory[start + $0] == masked[$0] ^ mask }) { found += 1 }
            offset = start + 1
        }
        return found
    }
}
