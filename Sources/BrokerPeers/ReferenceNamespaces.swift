public import BrokerModel
import Glibc

/// The mount and user namespaces in which a path means what the policy means by it, and where such a path
/// begins (POLICY, rule 3).
///
/// With `--user` they are PID 1's and the broker's own, which the user's manager started it in. With
/// `--system` they are PID 1's and those of the caller's user's manager: the broker's own are its unit's
/// sandbox, where files are hidden or others, and count for nothing.
public struct ReferenceNamespaces: Sendable {
    private let mount: Set<FileID>
    private let user: Set<FileID>
    private let managers: UserManagers?
    /// Where paths begin. Nil where PID 1's root cannot be opened: then no program has `file` evidence.
    let root: Descriptor?

    /// All of it, for tests in this module.
    init(mount: Set<FileID>, user: Set<FileID>, managers: UserManagers? = nil, root: Descriptor? = nil) {
        self.mount = mount
        self.user = user
        self.managers = managers
        self.root = root
    }

    /// For `--user`, read once, at start. PID 1's may be closed to the broker and are then left out, so that a
    /// peer which shares only those has no file evidence; the broker's own must be readable.
    public static func current() throws(Fault) -> ReferenceNamespaces {
        do {
            let own = try Namespaces(of: ProcessFolder(path: "/proc/self"))
            let first = try whereReadable { () throws(SystemError) in
                try Namespaces(of: ProcessFolder(path: "/proc/1"))
            }
            let all = [own, first].compactMap { $0 }
            return ReferenceNamespaces(
                mount: Set(all.map(\.mount)), user: Set(all.map(\.user)),
                root: try Kernel.open("/", in: nil, O_DIRECTORY | pathOnly))
        } catch {
            throw Fault("reading the broker's own namespaces", code: error.code)
        }
    }

    /// For `--system`, read once, at start. What cannot be read is left out, and ``trouble`` says so: the
    /// broker then knows callers by what the kernel fixed at connect.
    public static func machine() -> ReferenceNamespaces { machine(firstProcess: 1) }

    static func machine(firstProcess: UInt32) -> ReferenceNamespaces {
        guard let process = try? ProcessFolder(processID: firstProcess),
            let first = try? Namespaces(of: process),
            let root = try? process.root(), let executable = try? process.file("exe")
        else { return ReferenceNamespaces(mount: [], user: []) }
        return ReferenceNamespaces(
            mount: [first.mount], user: [first.user],
            managers: UserManagers(
                root: root, executable: executable, firstProcess: Int64(firstProcess)),
            root: root)
    }

    /// What a log says where programs cannot be told from one another; nil where they can.
    public var trouble: String? {
        root != nil
            ? nil
            : "/proc/1/root cannot be opened, so no caller has file trust; the unit needs CAP_SYS_PTRACE and"
                + " CAP_DAC_READ_SEARCH in AmbientCapabilities= and CapabilityBoundingSet=, and neither"
                + " PrivateUsers= nor ProcSubset=pid takes them away again"
    }

    /// Whether a process in these namespaces sees what the policy's paths mean; nil where that is not known.
    func contain(_ namespaces: Namespaces, of userID: UInt32) throws(SystemError) -> Bool? {
        if mount.isEmpty { return nil }
        guard user.contains(namespaces.user) else { return false }
        if mount.contains(namespaces.mount) { return true }
        return try managers?.mountNamespace(of: userID, in: namespaces.user) == namespaces.mount
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
