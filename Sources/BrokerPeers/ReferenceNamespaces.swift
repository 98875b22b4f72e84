public import BrokerModel
import Glibc

/// The mount and user namespaces in which a path means what the broker means by it: those of PID 1, and
/// those of the user's manager, which are the broker's own (POLICY, rule 3).
public struct ReferenceNamespaces: Sendable, Equatable {
    let mount: Set<FileID>
    let user: Set<FileID>

    /// Both sets, for tests in this module.
    init(mount: Set<FileID>, user: Set<FileID>) {
        self.mount = mount
        self.user = user
    }

    /// Reads them once, at start. PID 1's may be closed to the broker and are then left out, so that a peer
    /// which shares only those has no file evidence; the broker's own must be readable.
    public static func current() throws(Fault) -> ReferenceNamespaces {
        do {
            let own = try Namespaces(of: ProcessFolder(path: "/proc/self"))
            let first = try whereReadable { () throws(SystemError) in
                try Namespaces(of: ProcessFolder(path: "/proc/1"))
            }
            let all = [own, first].compactMap { $0 }
            return ReferenceNamespaces(mount: Set(all.map(\.mount)), user: Set(all.map(\.user)))
        } catch {
            throw Fault("reading the broker's own namespaces", code: error.code)
        }
    }

    func contain(_ namespaces: Namespaces) -> Bool {
        mount.contains(namespaces.mount) && user.contains(namespaces.user)
    }
}

/// The two namespaces of a process that decide what a path and an owner mean to it.
struct Namespaces: Sendable, Equatable {
    let mount: FileID
    let user: FileID

    init(of process: ProcessFolder) throws(SystemError) {
        mount = try process.file("ns/mnt")
        user = try process.file("ns/user")
    }
}
