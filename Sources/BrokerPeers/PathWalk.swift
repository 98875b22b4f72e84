import Glibc

/// Follows a path from a root one component at a time, and notes whether anybody but root could
/// lead it elsewhere: each folder on the way is looked at, those of the links' targets too.
///
/// The file is opened by the walk itself, so what was checked is what was found.
struct PathWalk {
    /// Where a path leads.
    struct End {
        let file: Descriptor
        let status: FileStatus
        /// Regular, root's, writable by nobody else, in folders of which the same is true, and not on a
        /// `nosuid` mount.
        let isTrusted: Bool
    }

    private let root: Descriptor
    private let rootID: FileID
    private var folder: Descriptor
    private var folderID: FileID
    private var names: [String]
    private var linksLeft = 40
    private var isGuarded: Bool

    /// Nil when the path is not absolute, leads nowhere, or to a folder.
    static func follow(_ path: String, from root: Descriptor) throws(SystemError) -> End? {
        guard path.utf8.first == UInt8(ascii: "/"), path.utf8.count < PATH_MAX else { return nil }
        return try whereReadable { () throws(SystemError) in
            var walk = try PathWalk(path, root)
            return try walk.run()
        } ?? nil
    }

    /// Whether a path leads to a folder that nobody but root can write or put another in the place of.
    static func isGuardedFolder(_ path: String, from root: Descriptor) throws(SystemError) -> Bool {
        guard path.utf8.first == UInt8(ascii: "/"), path.utf8.count < PATH_MAX else { return false }
        return try whereReadable { () throws(SystemError) in
            var walk = try PathWalk(path, root)
            return try walk.run() == nil && walk.isGuarded
        } ?? false
    }

    private init(_ path: String, _ root: Descriptor) throws(SystemError) {
        let status = try root.status()
        self.root = root
        rootID = status.id
        folder = root
        folderID = status.id
        isGuarded = status.isGuarded
        names = Self.names(of: path)
    }

    private mutating func run() throws(SystemError) -> End? {
        while let name = names.popLast() {
            // Above the root of another mount namespace there may be what was there before it.
            if name == ".." && folderID == rootID { continue }
            let next = try Kernel.open(name, in: folder, O_NOFOLLOW | pathOnly)
            let status = try next.status()
            switch status.kind {
            case .folder: enter(next, status)
            case .link: try turn(at: next)
            case .regular, .other: return try end(next, status)
            }
        }
        return nil
    }

    private mutating func enter(_ next: Descriptor, _ status: FileStatus) {
        folder = next
        folderID = status.id
        isGuarded = isGuarded && status.isGuarded
    }

    /// A link's owner is of no matter: its text never changes, and its folder says who can put another there.
    private mutating func turn(at link: Descriptor) throws(SystemError) {
        guard linksLeft > 0 else { throw SystemError(code: ELOOP) }
        linksLeft -= 1
        let text = try Kernel.linkText("", in: link)
        if text.utf8.first == UInt8(ascii: "/") {
            folder = root
            folderID = rootID
        }
        names += Self.names(of: text)
    }

    private func end(_ file: Descriptor, _ status: FileStatus) throws(SystemError) -> End {
        guard names.isEmpty else { throw SystemError(code: ENOTDIR) }
        let isOnTrustedMount = try file.isOnTrustedMount()
        let isTrusted = isGuarded && status.kind == .regular && status.isGuarded && isOnTrustedMount
        return End(file: file, status: status, isTrusted: isTrusted)
    }

    /// Last one first. Split as bytes: a slash that a combining mark follows is a slash to the kernel.
    private static func names(of path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).reversed().map { String(Substring($0)) }
    }
}
