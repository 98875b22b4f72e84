internal import Glibc
public import Sodium

/// The device key's 32 bytes: from systemd, from a file, or new.
public enum DeviceKeyFile {
    /// Reads the key from `path`, or makes a new one there where `mayCreate` says that no store needs an old
    /// one. Nil where the key is missing and may not be made: a new key could never open the old store.
    public static func load(_ path: String, mayCreate: Bool) throws(HostError) -> Secret? {
        if HostFile.exists(path) {
            let file = try HostFile.read(path, limit: 4096)
            guard file.ownerID == geteuid() || file.ownerID == 0 else {
                throw HostError("belongs to another user", path: path, code: 0)
            }
            guard file.bytes.count == Key.byteCount else {
                throw HostError("is no device key: it has not 32 bytes", path: path, code: 0)
            }
            return Secret(copying: file.bytes.span)
        }
        guard mayCreate else { return nil }
        try makeParents(of: path)
        let bytes = Random.bytes(Key.byteCount)
        try HostFile.create(path, bytes)
        return Secret(copying: bytes.span)
    }

    private static func makeParents(of path: String) throws(HostError) {
        let parts = path.split(separator: "/").dropLast()
        var made = path.hasPrefix("/") ? "/" : ""
        for part in parts {
            made += part
            if unsafe mkdir(made, 0o700) != 0 && errno != EEXIST {
                throw HostError("cannot be made", path: made)
            }
            made += "/"
        }
    }

    /// What the machine calls itself; empty where it has no name.
    public static func machineID() -> [UInt8] {
        guard let file = try? HostFile.read("/etc/machine-id", limit: 256) else { return [] }
        return file.bytes.filter { $0 > 0x20 }
    }
}
