/// What `Update` sets, beside the secret.
public struct Changes: Sendable {
    /// Attributes that get a new value; the others stay.
    public let attributes: AttributeSet
    /// The group to move to.
    public let accessGroup: AccessGroup?
    /// The class to re-encrypt under.
    public let accessible: Accessibility?
    /// A change of the primary key.
    public let synchronizable: Bool?
    /// A new expiry.
    public let expires: UInt64?
    /// A new time to renew.
    public let freshUntil: UInt64?
    /// What every match's revision must be.
    public let ifRevision: UInt64?

    /// A move to another group, and nothing else.
    public init(movingTo group: AccessGroup) {
        attributes = AttributeSet()
        accessGroup = group
        accessible = nil
        synchronizable = nil
        expires = nil
        freshUntil = nil
        ifRevision = nil
    }

    /// Reads changes. `Param` for K2 and K13, `NoSuchAttribute` for `Class` and unknown keys.
    public init(_ dictionary: WireDictionary, now: UInt64) throws(Refusal) {
        let fields = try RequestFields(dictionary)
        if fields.itemClass != nil {
            throw Refusal(.noSuchAttribute, "An item keeps its Class for good.")
        }
        if fields.accessControl != nil {
            throw .param(
                "AccessControl cannot be changed in place; Store with another one replaces the item.")
        }
        if fields.applicationPassword != nil {
            throw .param("ApplicationPassword stands in the query of Update.")
        }
        try fields.checkGivenByCallers()
        if let expires = fields.expires, expires <= now { throw .alreadyExpired }
        attributes = fields.attributes
        accessGroup = fields.accessGroup
        accessible = fields.accessible
        synchronizable = try fields.synchronizableFlag()
        expires = fields.expires
        freshUntil = fields.freshUntil
        ifRevision = fields.ifRevision
    }
}

extension RequestFields {
    /// Refuses what the broker sets itself, and what belongs to queries alone (K10, K13).
    func checkGivenByCallers() throws(Refusal) {
        if reference != nil || revision != nil || created != nil || modified != nil {
            throw .param("Reference, Revision, Created and Modified are set by the broker.")
        }
        if limit != nil || skipGated != nil { throw .param("Limit and SkipGated belong to queries.") }
    }

    func protection() throws(Refusal) -> Protection? {
        switch (accessible, accessControl) {
        case (nil, nil): nil
        case (let accessible?, nil): .accessible(accessible)
        case (nil, let control?): .accessControl(control)
        case (.some, .some): throw .param("Accessible and AccessControl exclude one another.")
        }
    }

    func synchronizableFlag() throws(Refusal) -> Bool? {
        switch synchronizable {
        case nil: nil
        case .yes: true
        case .no: false
        case .any: throw .param("'any' belongs to queries; an item is synchronizable or it is not.")
        }
    }
}

extension Refusal {
    static let alreadyExpired = Refusal(.param, "Expires is a time that has passed.")
}
