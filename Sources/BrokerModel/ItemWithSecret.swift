public import Sodium

/// An item with its secret, for one reply.
public final class ItemWithSecret {
    /// Everything but the secret.
    public let attributes: ItemAttributes
    /// The secret, wiped with the last reference to it.
    public let secret: SharedSecret

    /// Takes the secret over.
    public init(_ attributes: ItemAttributes, _ secret: consuming Secret) {
        self.attributes = attributes
        self.secret = SharedSecret(secret)
    }
}

/// What `Add` and `Store` answer.
public struct StoredItem: Sendable {
    /// The item's persistent reference.
    public let reference: Reference
    /// Its revision now.
    public let revision: UInt64
    /// Whether there was none before.
    public let created: Bool

    /// All fields.
    public init(reference: Reference, revision: UInt64, created: Bool) {
        self.reference = reference
        self.revision = revision
        self.created = created
    }
}

/// What a logout did.
public struct LogoutOutcome: Sendable {
    /// How many items are gone; 0 before the first unlock, when they go later.
    public let deleted: UInt32
    /// How many subscribers were told.
    public var subscribers: UInt32
    /// The group's epoch now.
    public let epoch: UInt64

    /// `subscribers` is counted where they are known.
    public init(deleted: UInt32, epoch: UInt64, subscribers: UInt32 = 0) {
        self.deleted = deleted
        self.epoch = epoch
        self.subscribers = subscribers
    }
}

/// What a check of every row found.
public struct CheckReport: Sendable {
    /// Rows of each side that were looked at.
    public var rows: [Accessibility.Side: UInt32] = [:]
    /// Those that do not open.
    public var damaged: [Accessibility.Side: UInt32] = [:]
    /// Whether the foreground rows could be opened at all.
    public var isForegroundOpen = false

    /// Nothing looked at yet.
    public init() {}
}
