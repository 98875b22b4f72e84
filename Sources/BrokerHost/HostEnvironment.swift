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

    /// What tells this boot of the machine from others (random(4)); empty where the kernel does not say it.
    public static var bootID: [UInt8] {
        let file = unsafe open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        return unsafe [UInt8](unsafeUninitializedCapacity: 64) { output, count in
            count = max(0, unsafe read(file, output.baseAddress!, output.count))
        }
    }

    /// Microseconds since the Unix epoch.
    public static var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(max(0, time.tv_sec)) * 1_000_000 + UInt64(time.tv_nsec / 1000)
    }
}
