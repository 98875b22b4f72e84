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
    }

    deinit {
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
