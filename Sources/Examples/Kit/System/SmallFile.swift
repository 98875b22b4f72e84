internal import Glibc

/// A file of a few bytes, replaced as a whole.
public struct SmallFile: Sendable {
    private let path: String

    private static let bytesMax = 4096

    /// At that path, where nothing may be yet.
    public init(path: String) { self.path = path }

    /// Its text; nil where there is none.
    public func read() -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Self.bytesMax)
        let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
        return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    /// Puts another text in its place; false where that fails, and the text before stays.
    @discardableResult public func replace(by text: String) -> Bool {
        let new = path + ".new"
        let descriptor = unsafe open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        let bytes = Array(text.utf8)
        let isWritten = unsafe write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
        close(descriptor)
        return unsafe isWritten && rename(new, path) == 0
    }
}
