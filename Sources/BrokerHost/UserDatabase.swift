internal import Glibc

/// What the machine knows of users and of whose processes there are. All of it may block.
public enum UserDatabase {
    /// Whether the user database has the user. False also where it cannot be asked just now.
    public static func knows(_ userID: UInt32) -> Bool {
        var size = 4096
        while size <= 1 << 20 {
            var entry = unsafe passwd()
            var result: UnsafeMutablePointer<passwd>?
            var buffer = [CChar](repeating: 0, count: size)
            let code = unsafe getpwuid_r(userID, &entry, &buffer, size, &result)
            if code != ERANGE { return unsafe result != nil }
            size *= 4
        }
        return false
    }

    /// The user that a process runs as; nil where there is no such process.
    public static func userID(ofProcess processID: UInt32) -> UInt32? {
        var status = stat()
        return unsafe stat("/proc/\(processID)", &status) == 0 ? status.st_uid : nil
    }
}
