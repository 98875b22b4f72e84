/// What an administrator wants done with an item that comes from elsewhere.
public enum ImportMode: String, Sendable {
    /// Nothing: it only asks what there is.
    case look
    /// To add it, unless one is there already.
    case add
    /// To add it, or to change the one that is there.
    case replace
}

/// What there was in an item's place, and what was done about it. It holds nothing of what is stored.
public struct Imported: Sendable, Equatable {
    /// What it was, or what became of it.
    public let outcome: Outcome
    /// The group that this is about.
    public let group: AccessGroup
    /// When the one that is there was last changed; 0 where none is.
    public let modified: UInt64

    /// What there was, or what was done.
    public enum Outcome: String, Sendable {
        /// None is there.
        case absent
        /// It is there with the same secret.
        case there
        /// It is there with another secret.
        case different
        /// None was there; now it is.
        case added
        /// It was there with another secret; now it has this one.
        case replaced
    }

    /// All fields.
    public init(_ outcome: Outcome, in group: AccessGroup, modified: UInt64 = 0) {
        self.outcome = outcome
        self.group = group
        self.modified = modified
    }
}
