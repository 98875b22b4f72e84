/// Everything about an item but its secret, as a reply tells it.
public struct ItemAttributes: Sendable, Equatable {
    /// The class.
    public var itemClass: ItemClass
    /// The group.
    public var accessGroup: AccessGroup
    /// The class key's class, and what a person must do.
    public var protection: Protection
    /// The fingers that its access control is about, where it is about those that were enrolled when it was stored and
    /// they were not seen to have changed.
    public var fingers: FingerSet?
    /// Whether it may be synchronized.
    public var synchronizable: Bool
    /// What callers gave.
    public var attributes: AttributeSet
    /// When it ceases to exist, in microseconds since the Unix epoch.
    public var expires: UInt64?
    /// When it should be renewed, in the same unit.
    public var freshUntil: UInt64?
    /// The persistent reference.
    public var reference: Reference
    /// From the group's counter; never used twice in a group.
    public var revision: UInt64
    /// Microseconds since the Unix epoch.
    public var created: UInt64
    /// Microseconds since the Unix epoch; later than before with every change.
    public var modified: UInt64

    /// All fields.
    public init(
        itemClass: ItemClass, accessGroup: AccessGroup, protection: Protection,
        fingers: FingerSet? = nil, synchronizable: Bool, attributes: AttributeSet, expires: UInt64?,
        freshUntil: UInt64?, reference: Reference,
        revision: UInt64, created: UInt64, modified: UInt64
    ) {
        self.itemClass = itemClass
        self.accessGroup = accessGroup
        self.protection = protection
        self.fingers = fingers
        self.synchronizable = synchronizable
        self.attributes = attributes
        self.expires = expires
        self.freshUntil = freshUntil
        self.reference = reference
        self.revision = revision
        self.created = created
        self.modified = modified
    }

    /// Whether the item is what the query means, by every filter but the caller's groups.
    public func matches(_ query: Query) -> Bool {
        if let wanted = query.reference {
            return wanted == reference && (query.itemClass ?? itemClass) == itemClass
        }
        return query.itemClass == itemClass
            && (query.accessGroup == nil || query.accessGroup == accessGroup)
            && (query.accessible == nil || query.accessible == protection.accessibility)
            && query.synchronizable.admits(synchronizable)
            && (query.created == nil || query.created == created)
            && (query.modified == nil || query.modified == modified)
            && (query.revision == nil || query.revision == revision)
            && (query.expires == nil || query.expires == expires)
            && (query.freshUntil == nil || query.freshUntil == freshUntil)
            && attributes.contains(query.attributes, of: itemClass)
    }

    /// What a logout calls the item's service; empty where it has none.
    public var service: String {
        let value = itemClass.service.flatMap { attributes[$0]?.blob } ?? []
        return String(decoding: value, as: UTF8.self)
    }

    /// Whether the secret is out of reach while the device is locked, though the item is not.
    public var isSecretForeground: Bool { attributes.secretAccessible != nil }

    /// Whether the item has ceased to exist.
    public func hasExpired(at now: UInt64) -> Bool {
        guard let expires else { return false }
        return expires <= now
    }
}
