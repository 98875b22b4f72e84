internal import Glibc

/// A file that was read whole, with what the file system says of it.
public struct HostFile: Sendable {
    /// Its bytes.
    public let bytes: [UInt8]
    /// The owner's user id.
    public let ownerID: UInt32
    /// Whether somebody but the owner may write it.
    public let isWritableByOthers: Bool

    /// Reads a regular file of at most `limit` bytes. The facts are of the file that was read, not of
    /// whatever has its name a moment later.
    public static func read(_ path: String, limit: Int) throws(HostError) -> HostFile {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw HostError("cannot be opened", path: path) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw HostError("cannot be read", path: path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw HostError("is no regular file", path: path, code: 0)
        }
        guard status.st_size <= limit else { throw HostError("is too large", path: path, code: 0) }
        return HostFile(
            bytes: try bytes(of: descriptor, limit: limit, path: path), ownerID: status.st_uid,
            isWritableByOthers: status.st_mode & (S_IWGRP | S_IWOTH) != 0)
    }

    private static func bytes(
        of descriptor: Int32, limit: Int, path: String
    ) throws(HostError) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw HostError("cannot be read", path: path) }
            if count == 0 { return bytes }
            bytes += chunk[0..<count]
            guard bytes.count <= limit else { throw HostError("is too large", path: path, code: 0) }
        }
    }

    /// Writes a new file of mode 0600 and makes it durable; a file of that name is an error.
    public static func create(_ path: String, _ bytes: [UInt8]) throws(HostError) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw HostError("cannot be made", path: path) }
        defer { close(descriptor) }
        guard unsafe write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0 else {
            let error = HostError("cannot be written", path: path)
            unsafe unlink(path)
            throw error
        }
    }

    /// Whether something has the name.
    public static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }
}

/// Something on the file system that is not as it should be: which path, and what about it.
public struct HostError: Error, Sendable, CustomStringConvertible {
    /// The path.
    public let path: String
    /// What is wrong with it, to stand behind the path.
    public let text: String
    /// The errno, 0 where the system had no objection.
    public let code: Int32

    /// What somebody else has found of a path.
    public init(_ text: String, at path: String) { self.init(text, path: path, code: 0) }

    init(_ text: String, path: String, code: Int32? = nil) {
        self.path = path
        self.text = text
        self.code = code ?? errno
    }

    /// What is wrong, to stand behind the path.
    public var reason: String {
        code == 0 ? text : unsafe "\(text): \(String(cString: strerror(code)))"
    }

    /// One line for a person.
    public var description: String { "\(path) \(reason)" }
}
