internal import CSystemd
internal import Glibc

/// What a client may know of its own process.
public enum ClientProcess {
    /// The user that it acts for.
    public static var userID: UInt32 { geteuid() }

    /// `$XDG_RUNTIME_DIR`; nil where it is not set. A process with raised privileges does not ask its environment, which
    /// is that of whoever started it: it has the user's folder of logind.
    public static var runtimeFolder: String? {
        if getauxval(UInt(AT_SECURE)) != 0 { return "/run/user/\(userID)" }
        guard let value = unsafe getenv("XDG_RUNTIME_DIR") else { return nil }
        let folder = unsafe String(cString: value)
        return folder.hasPrefix("/") ? folder : nil
    }

    /// Has the kernel kill this process when its parent ends, also after an exec. False where the parent has ended
    /// already.
    public static func endWithParent(_ parent: Int32) -> Bool {
        shim_end_with_parent(SIGKILL) == 0 && getppid() == parent
    }

    /// A user's id by its name; nil where the user database has no such user.
    public static func userID(named name: String) -> UInt32? {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        let result = unsafe getpwnam_r(name, &entry, &buffer, buffer.count, &found)
        return unsafe result == 0 && found != nil ? entry.pw_uid : nil
    }
}
