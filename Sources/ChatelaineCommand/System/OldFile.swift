internal import Console
internal import Glibc
internal import Sodium

/// A file of passwords as it was when it was read: the user's own, and no larger than such a file can be.
struct OldFile {
    /// Where it really is, behind symbolic links.
    let path: String
    /// Its bytes.
    let text: SharedSecret
    /// Its facts at that time.
    let facts: Facts

    /// What the file system says of a file, as far as it tells a change.
    struct Facts: Equatable {
        let device: UInt64
        let inode: UInt64
        let size: Int
        let changed: Int
        let changedNanoseconds: Int
        let mode: UInt32
        let owner: UInt32
        let group: UInt32
        let names: UInt64
        let isRegular: Bool

        init(_ status: stat) {
            (device, inode, size) = (UInt64(status.st_dev), UInt64(status.st_ino), Int(status.st_size))
            (changed, changedNanoseconds) = (status.st_ctim.tv_sec, status.st_ctim.tv_nsec)
            (mode, owner, group) = (UInt32(status.st_mode) & 0o7777, status.st_uid, status.st_gid)
            names = UInt64(status.st_nlink)
            isRegular = status.st_mode & S_IFMT == S_IFREG
        }

        /// Of what has the name now, whatever it is; nil where nothing has.
        init?(path: String) {
            var status = stat()
            guard unsafe lstat(path, &status) == 0 else { return nil }
            self.init(status)
        }
    }

    /// Reads it. A link, or a file, that somebody else has put there is refused.
    static func read(_ name: String) throws(Failure) -> OldFile {
        guard let own = Facts(path: name) else {
            throw Failure(.notFound, "\(name.printable) \(problem("cannot be looked at"))")
        }
        try check(name, own)
        guard let path = resolved(name) else {
            throw Failure(.notFound, "\(name.printable) \(problem("leads nowhere"))")
        }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else {
            throw Failure(.failed, "\(name.printable) \(problem("cannot be opened"))")
        }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw Failure(.failed, "\(name.printable) \(problem("cannot be read"))")
        }
        let facts = Facts(status)
        try check(name, facts)
        guard facts.isRegular else { throw Failure(.failed, "\(name.printable) is no regular file") }
        guard facts.size <= bytesMax else { throw Failure(.failed, "\(name.printable) is larger than 1 MiB") }
        return OldFile(path: path, text: SharedSecret(try bytes(of: descriptor, name)), facts: facts)
    }

    /// Whether the name still leads to the file as it was read.
    var isUnchanged: Bool { Facts(path: path) == facts }

    private static func check(_ name: String, _ facts: Facts) throws(Failure) {
        guard facts.owner == geteuid() else {
            throw Failure(.denied, "\(name.printable) belongs to another user; only your own files are taken")
        }
    }

    private static let bytesMax = 1 << 20

    private static func bytes(of descriptor: Int32, _ name: String) throws(Failure) -> Secret {
        var count = 0
        let all = try Secret(count: bytesMax + 1) { (target) throws(Failure) in
            while count <= bytesMax {
                let offset = count
                let more = unsafe target.withUnsafeMutableBufferPointer { buffer in
                    unsafe Glibc.read(descriptor, buffer.baseAddress! + offset, buffer.count - offset)
                }
                if more < 0 && errno == EINTR { continue }
                guard more >= 0 else {
                    throw Failure(.failed, "\(name.printable) \(problem("cannot be read"))")
                }
                if more == 0 { return }
                count += more
            }
        }
        guard count <= bytesMax else { throw Failure(.failed, "\(name.printable) is larger than 1 MiB") }
        return Secret(copying: all.span.extracting(0..<count))
    }

    private static func resolved(_ name: String) -> String? {
        guard let path = unsafe realpath(name, nil) else { return nil }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }

    /// A sentence's end with the system's reason.
    static func problem(_ text: String) -> String { unsafe "\(text): \(String(cString: strerror(errno)))" }
}
