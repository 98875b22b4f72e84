public import Sodium

/// What `Add` and `Store` are given, beside the secret.
public struct NewItem: Sendable {
    /// The class.
    public let itemClass: ItemClass
    /// The group; nil: the caller's first.
    public let accessGroup: AccessGroup?
    /// The protection; nil: the group's default, or with `Store` what the item has.
    public let protection: Protection?
    /// Whether it may be synchronized; part of the primary key.
    public let synchronizable: Bool
    /// The other attributes.
    public let attributes: AttributeSet
    /// When it ceases to exist, in microseconds since the Unix epoch.
    public let expires: UInt64?
    /// When it should be renewed.
    public let freshUntil: UInt64?
    /// With `Store`: the revision that must be there; 0: none.
    public let ifRevision: UInt64?
    /// The password to put the secret under, where the access control asks for one.
    public let applicationPassword: SharedSecret?

    /// The two calls.
    public enum Purpose: Sendable {
        case add
        case store
    }

    /// Reads attributes. `now` judges `Expires`. `Param`, `NoSuchAttribute`, `NoSuchClass`, `TooLarge`.
    public init(_ dictionary: WireDictionary, for purpose: Purpose, now: UInt64) throws(Refusal) {
        let fields = try RequestFields(dictionary)
        try fields.checkGivenByCallers()
        guard let itemClass = fields.itemClass else { throw .param("An item needs a Class.") }
        for pair in fields.attributes.pairs where !pair.key.belongs(to: itemClass) {
            throw .foreignAttribute
        }
        if fields.ifRevision != nil && purpose == .add {
            throw .param("Add takes no IfRevision; Store does, and 0 there means 'only if absent'.")
        }
        if let expires = fields.expires, expires <= now { throw .alreadyExpired }
        self.itemClass = itemClass
        accessGroup = fields.accessGroup
        protection = try fields.protection()
        synchronizable = try fields.synchronizableFlag() ?? false
        attributes = fields.attributes
        expires = fields.expires
        freshUntil = fields.freshUntil
        ifRevision = fields.ifRevision
        applicationPassword = fields.applicationPassword
        try protection?.check(synchronizable: synchronizable)
    }
}

/// An item's protection: a class alone, or an access control over one.
public enum Protection: Sendable, Equatable {
    case accessible(Accessibility)
    case accessControl(AccessControl)

    /// The class whose key protects the item.
    public var accessibility: Accessibility {
        switch self {
        case .accessible(let accessibility): accessibility
        case .accessControl(let control): control.protection
        }
    }

    /// Whether reading the item asks a person for something.
    public var isGated: Bool {
        switch self {
        case .accessible: false
        case .accessControl(let control): control.isGated
        }
    }

    /// Whether it is about the fingers that are enrolled when the item is stored.
    public var bindsFingers: Bool {
        guard case .accessControl(let control) = self else { return false }
        return control.flags.contains(.biometryCurrentSet)
    }

    /// `Param` for what cannot be synchronized: this-device-only classes (K3) and constraints (S134).
    public func check(synchronizable: Bool) throws(Refusal) {
        guard synchronizable else { return }
        guard accessibility.isMigratable else {
            throw .param("A synchronizable item cannot have a this-device-only class.")
        }
        if isGated { throw .param("A synchronizable item cannot have an access control with constraints.") }
    }
}
