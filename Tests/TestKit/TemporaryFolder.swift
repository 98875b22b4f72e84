internal import Foundation
internal import Glibc

/// A folder of mode 0700, removed with all in it when the object goes.
public final class TemporaryFolder: Sendable {
    /// Where it is.
    public let path: String

    /// Makes it.
    public init() throws {
        var template = Array("/tmp/chatelaine-test-XXXXXX".utf8CString)
        let made = unsafe template.withUnsafeMutableBufferPointer { buffer in
            unsafe buffer.baseAddress.map { unsafe mkdtemp($0) != nil } ?? false
        }
        guard made else { throw TestFailure("mkdtemp failed: errno \(errno)") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        Leavings.add(path)
    }

    deinit {
        Leavings.remove(path)
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of an entry in it.
    public func entry(_ name: String) -> String { path + "/" + name }

    /// Writes a file into it and gives its path.
    @discardableResult
    public func write(_ text: String, to name: String) throws -> String {
        let file = entry(name)
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        return file
    }
}

/// Folders whose object still lives when the process ends, as some do that a task or a closure holds.
private enum Leavings {
    private static let paths: Locked = {
        atexit { for path in Leavings.paths.all() { try? FileManager.default.removeItem(atPath: path) } }
        return Locked()
    }()

    static func add(_ path: String) { paths.change { $0.insert(path) } }

    static func remove(_ path: String) { paths.change { $0.remove(path) } }

    private final class Locked: @unchecked Sendable {
        // Sendable holds because the set is touched under the lock alone.
        private let lock = NSLock()
        private var set: Set<String> = []

        func change<Result>(_ body: (inout Set<String>) -> Result) { lock.withLock { _ = body(&set) } }

        func all() -> Set<String> { lock.withLock { set } }
    }
}
