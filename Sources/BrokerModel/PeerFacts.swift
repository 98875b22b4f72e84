/// What the kernel and the file system say of a connection's process. Facts decide nothing; the policy
/// does. Missing is never "no": a fact that could not be read is nil.
public struct PeerFacts: Sendable, Equatable {
    /// The user id fixed at connect.
    public var userID: UInt32
    /// The process, for people to read; never evidence.
    public var processID: UInt32?
    /// When the process started, in the kernel's clock ticks since boot; nil when it could not be read. With the
    /// process id it names one process to others.
    public var startTicks: UInt64?
    /// The executable, if its file was found and compared; nil when it could not be.
    public var executable: Executable?
    /// The effective and supplementary groups fixed at connect.
    public var groups: [Group]
    /// Whether the process lives in the reference mount and user namespaces; nil when unread.
    public var inReferenceNamespaces: Bool?
    /// The application id of a Flatpak instance.
    public var flatpak: String?
    /// The name of a Snap instance.
    public var snap: String?
    /// The systemd unit by cgroup.
    public var unit: Unit?
    /// The label of the Linux security module, exact.
    public var securityLabel: String?

    /// An executable compared by device and inode (POLICY, rule 3).
    public struct Executable: Sendable, Equatable {
        /// Every path that named this very file when it was looked at: the link's own, which comes first
        /// where it is among them, and the policy's. All of them at `trust` or better.
        public var paths: [String]
        /// `file` where root owns it and all folders above it, and nobody else can write them; else `user`.
        public var trust: Trust
        /// Both fields.
        public init(paths: [String], trust: Trust) {
            self.paths = paths
            self.trust = trust
        }
    }

    /// A group id that the kernel fixed at connect.
    public struct Group: Sendable, Equatable {
        /// The number.
        public var id: UInt32
        /// The name, where the group database has one.
        public var name: String?
        /// Whether the user is a member, and so could have taken it on without a set-group-id program.
        public var userIsMember: Bool
        /// All fields.
        public init(id: UInt32, name: String?, userIsMember: Bool) {
            self.id = id
            self.name = name
            self.userIsMember = userIsMember
        }
    }

    /// A systemd unit.
    public struct Unit: Sendable, Equatable {
        /// The unit's name with its suffix.
        public var name: String
        /// Whether the system manager runs it, rather than a user's.
        public var isSystem: Bool
        /// Both fields.
        public init(name: String, isSystem: Bool) {
            self.name = name
            self.isSystem = isSystem
        }
    }

    /// A caller of whom nothing else is known yet.
    public init(userID: UInt32, processID: UInt32? = nil) {
        self.userID = userID
        self.processID = processID
        self.groups = []
    }
}
