internal import Glibc
internal import SDBus

/// Reads lines from a descriptor on a thread of its own, and closes it.
public final class LineReader: @unchecked Sendable {
    // Sendable holds because the buffer is touched on `thread` alone.
    private let thread = WorkThread(name: "lines")
    private let descriptor: Int32
    private var buffer: [UInt8] = []

    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// The next line without its newline; nil at the end. The last line needs no newline.
    public func next() async -> String? {
        await thread.run { self.readLine() }
    }

    /// All that is left, up to the end.
    public func rest() async -> String {
        await thread.run {
            while self.fill() {}
            defer { self.buffer = [] }
            return String(decoding: self.buffer, as: UTF8.self)
        }
    }

    private func readLine() -> String? {
        while true {
            if let end = buffer.firstIndex(of: 0x0A) {
                defer { buffer.removeSubrange(...end) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            if !fill() { break }
        }
        defer { buffer = [] }
        return buffer.isEmpty ? nil : String(decoding: buffer, as: UTF8.self)
    }

    private func fill() -> Bool {
        var chunk = [UInt8](repeating: 0, count: 4096)
        let count = unsafe read(descriptor, &chunk, chunk.count)
        if count > 0 { buffer += chunk[..<count] }
        return count > 0
    }
}
