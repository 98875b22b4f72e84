import BrokerModel
import Glibc

/// What the system's group database says of group ids and of who could take them on.
enum GroupDirectory {
    /// Whoever is not shown to be no member counts as one, which is the weaker evidence: so it is for a user
    /// or a group that the database does not know, or does not tell of just now.
    static func describe(_ groupIDs: [UInt32], of userID: UInt32) -> [PeerFacts.Group] {
        let user = User(userID)
        return groupIDs.map { id in
            guard let entry = Entry(id, member: user?.name) else {
                return PeerFacts.Group(id: id, name: nil, userIsMember: true)
            }
            let isMember = user.map { $0.groupIDs.contains(id) || entry.listsMember } ?? true
            return PeerFacts.Group(id: id, name: entry.name, userIsMember: isMember)
        }
    }

    /// Whether the user database has the user. Throws where it cannot be asked just now, so that nobody is
    /// taken for a stranger for the life of a connection.
    static func knows(user id: UInt32) throws(SystemError) -> Bool {
        var failure: Int32 = 0
        let found = unsafe withGrowingBuffer { start, size -> (code: Int32, value: Bool?) in
            var entry = unsafe passwd()
            var result: UnsafeMutablePointer<passwd>?
            failure = unsafe getpwuid_r(id, &entry, start, size, &result)
            return unsafe (failure, result != nil)
        }
        let error = SystemError(code: failure)
        if error.isPassing || failure == EIO { throw error }
        return found == true && failure == 0
    }

    /// A user and every group a login gives it: its primary one, and those that list it.
    private struct User {
        let name: String
        let groupIDs: Set<UInt32>

        init?(_ id: UInt32) {
            let found = unsafe withGrowingBuffer { start, size -> (code: Int32, value: (String, UInt32)?) in
                var entry = unsafe passwd()
                var result: UnsafeMutablePointer<passwd>?
                let code = unsafe getpwuid_r(id, &entry, start, size, &result)
                guard unsafe code == 0 && result != nil else { return (code, nil) }
                return unsafe (0, (text(entry.pw_name), entry.pw_gid))
            }
            guard let (name, primary) = found, let groups = Self.groups(of: name, primary) else { return nil }
            self.name = name
            groupIDs = groups
        }

        private static func groups(of name: String, _ primary: UInt32) -> Set<UInt32>? {
            var count: Int32 = 64
            // The kernel gives no process more than 65,536 groups.
            while count <= 65_536 {
                var groups = [gid_t](repeating: primary, count: Int(count))
                let capacity = count
                if unsafe getgrouplist(name, primary, &groups, &count) >= 0 {
                    return Set(groups.prefix(Int(count)))
                }
                count = max(count, capacity * 2)
            }
            return nil
        }
    }

    /// A group's name, and whether it lists a user. A directory may tell of a membership in one way only, so
    /// both are asked.
    private struct Entry {
        let name: String
        let listsMember: Bool

        init?(_ id: UInt32, member: String?) {
            let found = unsafe withGrowingBuffer { start, size -> (code: Int32, value: (String, Bool)?) in
                var entry = unsafe group()
                var result: UnsafeMutablePointer<group>?
                let code = unsafe getgrgid_r(id, &entry, start, size, &result)
                guard unsafe code == 0 && result != nil else { return (code, nil) }
                return unsafe (0, (text(entry.gr_name), Self.lists(entry.gr_mem, member)))
            }
            guard let found else { return nil }
            (name, listsMember) = found
        }

        private static func lists(
            _ members: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ user: String?
        ) -> Bool {
            guard let user, var next = unsafe members else { return false }
            while let member = unsafe next.pointee {
                if unsafe String(cString: member) == user { return true }
                unsafe next += 1
            }
            return false
        }
    }

    private static func text(_ field: UnsafeMutablePointer<CChar>?) -> String {
        unsafe field.map { unsafe String(cString: $0) } ?? ""
    }

    /// Tries with ever larger buffers while the database says that one is too small.
    private static func withGrowingBuffer<Value>(
        _ body: (UnsafeMutablePointer<CChar>, Int) -> (code: Int32, value: Value?)
    ) -> Value? {
        var size = 4096
        while size <= 4 << 20 {
            let answer = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { buffer in
                unsafe buffer.baseAddress.map { unsafe body($0, size) } ?? (code: EIO, value: nil)
            }
            if answer.code != ERANGE { return answer.value }
            size *= 4
        }
        return nil
    }
}
