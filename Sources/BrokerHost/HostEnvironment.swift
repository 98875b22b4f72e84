internal import Glibc

/// What the process's environment says; read in one place, once, at start.
public enum HostEnvironment {
    /// A variable that is set and not empty.
    public static func variable(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// A folder of the XDG base directories: `$XDG_…_HOME/chatelaine`, else below the home folder.
    public static func xdgFolder(_ variable: String, fallback: String) -> String? {
        if let base = Self.variable(variable), base.hasPrefix("/") { return base + "/chatelaine" }
        guard let home = Self.variable("HOME") else { return nil }
        return "\(home)/\(fallback)/chatelaine"
    }

    /// The user that the broker serves.
    public static var userID: UInt32 { geteuid() }

    /// The user of that name, where the user database has it.
    public static func userID(named name: String) -> UInt32? { unsafe getpwnam(name)?.pointee.pw_uid }

    /// Microseconds since the Unix epoch.
    public static var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(max(0, time.tv_sec)) * 1_000_000 + UInt64(time.tv_nsec / 1000)
    }
}
