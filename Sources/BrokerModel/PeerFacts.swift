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
    /// How the process hangs on its connection, which bounds what was read of it.
    public var pin: Pin
    /// A Flatpak instance that its records agree on.
    public var flatpak: Flatpak?
    /// The name of a Snap instance that unit and label agree on.
    public var snap: String?
    /// The systemd unit by control group.
    public var unit: Unit?
    /// The label of the Linux security module.
    public var securityLabel: SecurityLabel?
    /// Whether the machine's user database knows the user: a user namespace has ids that are nobody's.
    public var userIsRegistered: Bool

    /// How a process that was read about hangs on its connection (POLICY, rule 2). It bounds every fact that
    /// was read by process id, and none that the kernel fixed at connect. The trust of an executable and of a
    /// Flatpak is told as it is bounded.
    public enum Pin: Sendable {
        /// By a pidfd of the bus or the socket: this process connected.
        case atConnect
        /// By number, and shown to be older than the connection: `file` trust at most.
        case late
        /// By number alone, on a connection older than the broker: `user` trust at most.
        case unproven
    }

    /// A Flatpak instance.
    public struct Flatpak: Sendable, Equatable {
        /// The application's id.
        public var id: String
        /// `file` where only root could have put the application there; else `user`, since anybody can
        /// build and install one of any id.
        public var trust: Trust
        /// Both fields.
        public init(id: String, trust: Trust) {
            self.id = id
            self.trust = trust
        }
    }

    /// A security label, and who says so.
    public struct SecurityLabel: Sendable, Equatable {
        /// The label as the policy writes it: of AppArmor the profile's name without its mode.
        public var text: String
        /// What stands behind it.
        public var source: Source
        /// Both fields.
        public init(text: String, source: Source) {
            self.text = text
            self.source = source
        }

        /// What stands behind a label.
        public enum Source: Sendable {
            /// SELinux, enforcing, by the connection.
            case selinux
            /// SELinux while it only logs, by the connection: a process may give itself any label.
            case permissiveSELinux
            /// Another module, by the connection.
            case connection
            /// AppArmor, by the process.
            case process
        }
    }

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
        self.pin = .unproven
        self.userIsRegistered = false
    }

    /// Whether the user id is one that the system gives to its services, root's not among them: 1 to 999, and
    /// those that systemd hands out for `DynamicUser=`.
    public var userIsService: Bool { (1...999).contains(userID) || (61_184...65_519).contains(userID) }
}
