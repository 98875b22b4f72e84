internal import CSQLite
internal import Glibc

/// The file under a database, where SQLite itself does not look.
public enum DatabaseFile {
    /// Whether a database, or the log that one left behind, has the name: then nothing new is made there.
    public static func exists(_ path: String) -> Bool {
        isThere(path) || isThere(path + "-wal")
    }

    // A link that leads nowhere is something too.
    private static func isThere(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    /// Whether the disk takes no writes at all, which is another thing than a file that may not be written.
    public static func isOnReadOnlyDisk(_ path: String) -> Bool {
        unsafe access(path, W_OK) != 0 && errno == EROFS
    }

    /// Whether a log with content lies beside the file: the file alone does not tell all then.
    static func hasLog(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path + "-wal", &status) == 0 && status.st_size > 0
    }

    /// Takes away what an attempt that was cut short left behind.
    public static func discard(_ path: String) {
        for name in [path, path + "-journal", path + "-wal", path + "-shm"] { unsafe unlink(name) }
    }

    /// Gives a finished file its name, durably: at every moment there is the whole file or none.
    public static func publish(_ path: String, as name: String) throws(SQLiteError) {
        guard unsafe rename(path, name) == 0 else { throw SQLiteError(code: SQLITE_IOERR) }
        let slash = name.lastIndex(of: "/") ?? name.startIndex
        let folder = unsafe open(String(name[..<slash]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw SQLiteError(code: SQLITE_IOERR) }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw SQLiteError(code: SQLITE_IOERR) }
    }
}
