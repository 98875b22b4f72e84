/// What `[AccessGroup NAME]` says of a group; the defaults where no section names it.
public struct GroupRules: Sendable, Equatable {
    /// The least trust that reaches the group.
    public var requireTrust: Trust = .file
    /// How many items it holds at most.
    public var maxItems: UInt64 = Limits.groupItemsDefaultMax
    /// How many bytes of secrets and attributes it holds at most.
    public var maxBytes: UInt64 = Limits.groupBytesDefaultMax
    /// How long one answered prompt serves a connection, in seconds.
    public var reuseSeconds: UInt32 = 0
    /// Whether denials are enforced or only logged.
    public var mode: Mode = .enforce
    /// The classes that may be stored here, the first being the default; empty: all, `when-unlocked` first.
    public var accessible: [Accessibility] = []

    /// `Mode=` of an access group.
    public enum Mode: String, Sendable {
        case enforce
        case observe
    }

    /// The defaults.
    public init() {}

    /// The class of an item that is stored without one.
    public var defaultAccessible: Accessibility { accessible.first ?? .whenUnlocked }

    /// Whether items of the class may be stored in the group.
    public func allows(_ accessibility: Accessibility) -> Bool {
        accessible.isEmpty || accessible.contains(accessibility)
    }
}
