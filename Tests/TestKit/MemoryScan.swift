internal import Glibc
internal import SDBus

/// Looks through all writable memory of this process.
public enum MemoryScan {
    private static let chunk = 1 << 20
    private static let page = 4096
    /// A sanitizer's shadow is of terabytes, and holds no copies.
    private static let regionMax = 1 << 30

    // Seconds of work under a sanitizer: on a thread of the pool it would hold up all other tests.
    private static let thread = WorkThread(name: "scan")

    /// How often any of the needles, which are of one length, stands in memory. They are given masked, each byte xor
    /// `mask`, so that what is searched for is not itself there to be found.
    public static func count(masked needles: [[UInt8]], mask: UInt8) async throws -> Int {
        try await thread.run { Result { try scan(needles, mask) } }.get()
    }

    private static func scan(_ needles: [[UInt8]], _ mask: UInt8) throws -> Int {
        let length = needles.first?.count ?? 0
        let file = unsafe open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw TestFailure("no /proc/self/mem: errno \(errno)") }
        defer { close(file) }
        // Shared, so that the kernel does not join it with a neighbour into one region: it holds copies of what it has
        // read and must not be looked at itself.
        let buffer = unsafe mmap(nil, chunk, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
        guard let buffer = unsafe buffer, unsafe buffer != MAP_FAILED else { throw TestFailure("no buffer") }
        defer { unsafe munmap(buffer, chunk) }
        let own = UInt(bitPattern: buffer)
        var found = 0
        for region in try regions() where !region.contains(own) && region.count <= regionMax {
            var start = region.lowerBound
            while start < region.upperBound {
                let size = min(chunk, Int(region.upperBound - start))
                let count = unsafe pread(file, buffer, size, off_t(start))
                guard count > 0 else {
                    // Another thread gave this page back; what follows it may still be there.
                    start += UInt(page)
                    continue
                }
                for needle in needles {
                    found += unsafe occurrences(
                        UnsafeRawBufferPointer(start: buffer, count: count), needle, mask)
                }
                unsafe memset(buffer, 0, count)
                // Overlap, so that no border hides a match.
                start += count == chunk ? UInt(chunk - length + 1) : UInt(count)
            }
        }
        return found
    }

    private static func regions() throws -> [Range<UInt>] {
        let maps = String(decoding: try contents("/proc/self/maps"), as: UTF8.self)
        return maps.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard fields[1].hasPrefix("rw"), ends.count == 2 else { return nil }
            return ends[0]..<ends[1]
        }
    }

    /// Reads until there is no more: the kernel hands this file out in pieces, and a short one is not the last.
    private static func contents(_ path: String) throws -> [UInt8] {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw TestFailure("no \(path): errno \(errno)") }
        defer { close(file) }
        var (bytes, chunk) = ([UInt8](), [UInt8](repeating: 0, count: page))
        while true {
            let count = unsafe read(file, &chunk, chunk.count)
            if count <= 0 { return bytes }
            bytes += chunk[..<count]
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
