internal import Glibc

/// Names in the file system: where links lead, and putting and taking away what a command keeps in a user's folders.
public enum HostName {
    /// Where a link leads, as it is written; nil for what is none.
    public static func target(of path: String) -> String? {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(path, &target, target.count)
        guard count >= 0 else { return nil }
        return String(decoding: target.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether something has the name, be it a link that leads nowhere.
    public static func isTaken(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0
    }

    /// Makes a link, and the folders above it. What has the name is an error.
    public static func link(_ path: String, to target: String) throws(HostError) {
        try HostFolder.make(folder(of: path))
        guard unsafe symlink(target, path) == 0 else { throw HostError("cannot be made", path: path) }
    }

    /// Puts a file there, in one step, and makes the folders above it. A file of that name is replaced.
    public static func put(_ path: String, _ text: String) throws(HostError) {
        try HostFolder.make(folder(of: path))
        let new = path + ".new"
        unsafe unlink(new)
        try HostFile.create(new, Array(text.utf8))
        guard unsafe rename(new, path) == 0 else {
            let error = HostError("cannot be made", path: path)
            unsafe unlink(new)
            throw error
        }
    }

    /// Takes a name away; one that is not there is no error.
    public static func remove(_ path: String) throws(HostError) {
        guard unsafe unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR else {
            throw HostError("cannot be removed", path: path)
        }
    }

    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }
}
