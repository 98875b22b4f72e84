import Glibc

/// Finds the mount namespace of a user's service manager, which systemd may have given one of its own.
///
/// The control group that the manager lies in belongs to its user, who can put other processes there and
/// take the manager out. So a process counts only if the user could not have made it so: it is PID 1's
/// child, runs PID 1's program, lives in PID 1's user namespace, which a mount namespace of the user's own
/// making does not, and can still gain privileges, which one behind a set-user-id sandbox cannot.
struct UserManagers: Sendable {
    let root: Descriptor
    /// PID 1's program.
    let executable: FileID
    /// PID 1, but for tests.
    let firstProcess: Int64

    /// Nil where there is none, or several that differ.
    func mountNamespace(of userID: UInt32, in userNamespace: FileID) throws(SystemError) -> FileID? {
        var found: Set<FileID> = []
        for number in try processes(of: userID) {
            let mount = try whereReadable { () throws(SystemError) in
                try mountNamespace(of: ProcessFolder(processID: number), userID, userNamespace)
            }
            if let mount = mount ?? nil { found.insert(mount) }
        }
        return found.count == 1 ? found.first : nil
    }

    private func mountNamespace(
        of process: ProcessFolder, _ userID: UInt32, _ userNamespace: FileID
    ) throws(SystemError) -> FileID? {
        guard try process.userIDs() == [userID, userID], try process.number(of: "PPid:") == firstProcess,
            try process.number(of: "NoNewPrivs:") == 0, try process.file("exe") == executable
        else { return nil }
        let namespaces = try Namespaces(of: process)
        return namespaces.user == userNamespace ? namespaces.mount : nil
    }

    /// What lies in the manager's control group, wherever the hierarchy is mounted.
    private func processes(of userID: UInt32) throws(SystemError) -> [UInt32] {
        let group = "user.slice/user-\(userID).slice/user@\(userID).service/init.scope/cgroup.procs"
        for hierarchy in ["sys/fs/cgroup", "sys/fs/cgroup/unified", "sys/fs/cgroup/systemd"] {
            let text = try whereReadable { () throws(SystemError) in
                try Kernel.contents("\(hierarchy)/\(group)", in: root, limit: 4096)
            }
            guard let text else { continue }
            return text.split(separator: UInt8(ascii: "\n")).compactMap {
                UInt32(String(decoding: $0, as: UTF8.self))
            }
        }
        return []
    }
}
