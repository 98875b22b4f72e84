public import Sodium

/// Which items a call means: exact matches on attributes, within the groups of a grant.
public struct Query: Sendable {
    /// The class; nil with a reference alone.
    public var itemClass: ItemClass?
    /// One item, whatever its other attributes; then nothing else filters.
    public var reference: Reference?
    /// The one group it is about; nil: all of the caller's.
    public var accessGroup: AccessGroup?
    /// Items of this protection class alone.
    public var accessible: Accessibility?
    /// Local items, synchronizable ones, or both.
    public var synchronizable: SynchronizableFilter
    /// The attributes that must be equal.
    public var attributes: AttributeSet
    /// When the item was added.
    public var created: UInt64?
    /// When it was last changed.
    public var modified: UInt64?
    /// When it ceases to exist.
    public var expires: UInt64?
    /// When it should be renewed.
    public var freshUntil: UInt64?
    /// Its revision.
    public var revision: UInt64?
    /// At most so many, oldest first.
    public var limit: Int?
    /// Whether gated items are left out.
    public var skipGated: Bool
    /// What every match's revision must be.
    public var ifRevision: UInt64?
    /// The password of items whose access control asks for one.
    public var applicationPassword: SharedSecret?

    /// The calls that take a query; each allows its own extra keys.
    public enum Purpose: Sendable {
        case read
        case list
        case update
        case delete
    }

    /// Reads a query. `Param`, `NoSuchAttribute`, `NoSuchClass` as in INTERFACE, attributes and queries.
    public init(_ dictionary: WireDictionary, for purpose: Purpose) throws(Refusal) {
        let fields = try RequestFields(dictionary)
        try Self.check(fields, for: purpose)
        itemClass = fields.itemClass
        reference = fields.reference
        accessGroup = fields.accessGroup
        accessible = fields.accessible
        synchronizable = fields.synchronizable ?? (fields.reference == nil ? .no : .any)
        attributes = fields.attributes
        created = fields.created
        modified = fields.modified
        expires = fields.expires
        freshUntil = fields.freshUntil
        revision = fields.revision
        limit = fields.limit.map { Int($0) }
        skipGated = fields.skipGated ?? false
        ifRevision = fields.ifRevision
        applicationPassword = fields.applicationPassword
        if reference != nil {
            try checkReferenceStandsAlone(fields)
        } else {
            try checkClass(fields)
        }
    }

    /// Items of an internal class: one by its reference, or those that have the attributes.
    public init(
        internal itemClass: ItemClass, reference: Reference? = nil,
        _ attributes: AttributeSet = AttributeSet()
    ) {
        self.itemClass = itemClass
        self.reference = reference
        self.attributes = attributes
        synchronizable = .any
        skipGated = false
    }

    private static func check(_ fields: RequestFields, for purpose: Purpose) throws(Refusal) {
        if fields.limit != nil && purpose != .list {
            throw .param(
                purpose == .read
                    ? "Limit belongs to Search and ReadAll; Read gives the oldest match."
                    : "Limit belongs to Search and ReadAll; a change or deletion is of every match, or of one by its Reference."
            )
        }
        if fields.limit == 0 { throw .param("A Limit of 0 asks for nothing.") }
        if fields.skipGated != nil && purpose != .list {
            throw .param("SkipGated belongs to Search and ReadAll.")
        }
        if fields.ifRevision != nil && purpose != .delete {
            throw .param(
                "IfRevision stands in the query of Delete, the changes of Update or the attributes of Store.")
        }
        if fields.applicationPassword != nil && purpose == .delete {
            throw .param("Delete asks for no application password.")
        }
    }

    private func checkReferenceStandsAlone(_ fields: RequestFields) throws(Refusal) {
        let others =
            itemClass != nil || accessGroup != nil || accessible != nil || fields.accessControl != nil
            || fields.synchronizable != nil || !attributes.pairs.isEmpty || created != nil || modified != nil
            || expires != nil || freshUntil != nil || revision != nil
        if others { throw .param("A Reference stands alone in a query.") }
    }

    private func checkClass(_ fields: RequestFields) throws(Refusal) {
        guard let itemClass else {
            throw .param("A query names a Class, or one item by its Reference.")
        }
        for pair in attributes.pairs where !pair.key.belongs(to: itemClass) {
            throw .foreignAttribute
        }
        if accessible != nil && fields.accessControl != nil {
            throw .param("Accessible and AccessControl exclude one another.")
        }
    }
}

/// `Synchronizable` in a query.
public enum SynchronizableFilter: Sendable {
    case no
    case yes
    case any

    /// Whether an item with this flag passes.
    public func admits(_ synchronizable: Bool) -> Bool {
        switch self {
        case .no: !synchronizable
        case .yes: synchronizable
        case .any: true
        }
    }
}

extension Refusal {
    /// A named group that is not the caller's, whether or not it exists.
    public static let missingGroup = Refusal(
        .missingEntitlement,
        "The policy does not give this program that access group; 'chatelaine policy explain' says why.")

    /// An operation that `Operations=` does not grant.
    public static let missingOperation = Refusal(
        .missingEntitlement, "The policy gives this program the group, and not this operation on it.")

    /// An attribute that items of the class do not have.
    public static let foreignAttribute = Refusal(
        .noSuchAttribute, "Items of this class have no such attribute; see chatelaine(1).")
}
