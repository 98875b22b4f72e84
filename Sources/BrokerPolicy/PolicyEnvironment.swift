/// What a pure room must be told of the machine. Its look-ups are asked while a policy is loaded and
/// never afterwards, so they may be slow.
public struct PolicyEnvironment: Sendable {
    /// `--system` rather than `--user`. Only then is there a level above file trust.
    public var isSystem: Bool
    /// The group of a name or of a decimal number; nil where the group database has none.
    public var group: @Sendable (String) -> Group?
    /// The user id of a name; nil where the user database has none.
    public var user: @Sendable (String) -> UInt32?

    /// A group as the group database has it.
    public struct Group: Sendable {
        /// The number.
        public var id: UInt32
        /// The names of its members, those included whose primary group it is.
        public var members: [String]
        /// Both fields.
        public init(id: UInt32, members: [String]) {
            self.id = id
            self.members = members
        }
    }

    /// All three fields; with no look-ups, every name is unknown.
    public init(
        isSystem: Bool, group: @escaping @Sendable (String) -> Group? = { _ in nil },
        user: @escaping @Sendable (String) -> UInt32? = { _ in nil }
    ) {
        self.isSystem = isSystem
        self.group = group
        self.user = user
    }
}
