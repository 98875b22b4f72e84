internal import Glibc

/// The folder that holds a user's store: mode 0700, and locked by one broker for as long as that lives.
public final class StateFolder: Sendable {
    /// Its path without symbolic links, since SQLite is told to follow none.
    public let path: String
    private let lock: Int32

    /// Makes the folder and its parents where they are not there, and takes the lock. A folder that somebody
    /// else owns or can write is refused, as is one that another broker has locked.
    public init(_ path: String) throws(HostError) {
        try Self.makeFolders(path)
        guard let resolved = unsafe realpath(path, nil) else {
            throw HostError("cannot be resolved", path: path)
        }
        self.path = unsafe String(cString: resolved)
        unsafe free(resolved)
        try Self.check(self.path)
        let lockPath = self.path + "/lock"
        var descriptor = unsafe open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        // On a read-only disk nothing can be made, and what is there can be locked all the same.
        if descriptor < 0 && errno == EROFS {
            descriptor = unsafe open(lockPath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        }
        lock = descriptor
        guard lock >= 0 else { throw HostError("cannot be made", path: lockPath) }
        // Asked for without waiting: a file system that cannot lock says so at once.
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            throw HostError(
                errno == EWOULDBLOCK ? "is locked by another broker" : "cannot be locked", path: self.path)
        }
    }

    deinit { close(lock) }

    private static func makeFolders(_ path: String) throws(HostError) {
        var made = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            made += part
            if unsafe mkdir(made, 0o700) != 0 && errno != EEXIST {
                throw HostError("cannot be made", path: made)
            }
            made += "/"
        }
    }

    private static func check(_ path: String) throws(HostError) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw HostError("cannot be read", path: path) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw HostError("is no folder", path: path, code: 0) }
        guard status.st_uid == geteuid() else {
            throw HostError("belongs to another user", path: path, code: 0)
        }
        guard status.st_mode & 0o077 == 0 else {
            guard unsafe chmod(path, 0o700) == 0 else {
                throw HostError("is open to others and cannot be closed", path: path)
            }
            return
        }
    }
}
