internal import BrokerPolicy
internal import Glibc

extension PolicyEnvironment {
    /// The user and group databases of this machine.
    static func ofThisMachine(isSystem: Bool) -> PolicyEnvironment {
        PolicyEnvironment(
            isSystem: isSystem, group: { Databases.group($0) }, user: { Databases.userID(of: $0) })
    }
}

// The calls without a buffer of the caller's are one thread's at a time; policies are loaded by one.
private enum Databases {
    static func group(_ nameOrNumber: String) -> PolicyEnvironment.Group? {
        let found = unsafe UInt32(nameOrNumber).map { unsafe getgrgid($0) } ?? getgrnam(nameOrNumber)
        guard let entry = unsafe found?.pointee else { return nil }
        var members: [String] = []
        var next = unsafe entry.gr_mem
        while let name = unsafe next?.pointee {
            unsafe members.append(String(cString: name))
            unsafe next = next?.advanced(by: 1)
        }
        return unsafe PolicyEnvironment.Group(
            id: entry.gr_gid, members: members + primaryMembers(entry.gr_gid))
    }

    static func userID(of name: String) -> UInt32? { unsafe getpwnam(name)?.pointee.pw_uid }

    private static func primaryMembers(_ groupID: UInt32) -> [String] {
        setpwent()
        defer { endpwent() }
        var names: [String] = []
        while let entry = unsafe getpwent()?.pointee {
            if unsafe entry.pw_gid == groupID { unsafe names.append(String(cString: entry.pw_name)) }
        }
        return names
    }
}
