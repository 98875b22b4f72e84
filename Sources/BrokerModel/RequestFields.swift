internal import Sodium

/// The keys of a request that have a meaning of their own, beside ``AttributeKey``, each read in its type.
///
/// What may stand where is decided by ``Query``, ``NewItem`` and ``Changes``.
struct RequestFields {
    var itemClass: ItemClass?
    var accessGroup: AccessGroup?
    var accessible: Accessibility?
    var accessControl: AccessControl?
    var synchronizable: SynchronizableFilter?
    var attributes = AttributeSet()
    var expires: UInt64?
    var freshUntil: UInt64?
    var reference: Reference?
    var revision: UInt64?
    var created: UInt64?
    var modified: UInt64?
    var limit: UInt32?
    var skipGated: Bool?
    var ifRevision: UInt64?
    var applicationPassword: SharedSecret?

    /// Reads the whole dictionary: `Param` for a wrong type or a key given twice, `NoSuchAttribute` for an
    /// unknown key, `NoSuchClass`, `TooLarge`; a group name that no group can have is `MissingEntitlement`.
    init(_ dictionary: WireDictionary) throws(Refusal) {
        var seen: UInt64 = 0
        for (key, value) in dictionary.entries {
            guard let name = Self.names[key] else {
                throw Refusal(
                    .noSuchAttribute,
                    "No attribute has this name; see chatelaine(1) for those there are.")
            }
            guard seen & 1 << name.number == 0 else {
                throw .param("A key stands twice in one dictionary.")
            }
            seen |= 1 << name.number
            switch name.meaning {
            case .attribute(let attribute):
                attributes[attribute] = try Self.attribute(value, of: attribute)
            case .field(let field): try read(value, as: field)
            }
        }
        guard attributes.byteCount <= Limits.itemAttributesBytesMax else {
            throw Refusal(.tooLarge, "The attributes of one item have 256 KiB at most.")
        }
    }

    private struct Name {
        /// No two have the same.
        let number: UInt64
        let meaning: Meaning
    }

    private enum Meaning {
        case attribute(AttributeKey)
        case field(Field)
    }

    private static let names: [String: Name] = {
        let attributes = AttributeKey.allCases.filter { !$0.isInternal }.map {
            ($0.name, Meaning.attribute($0))
        }
        let fields = Field.allCases.map { ($0.rawValue, Meaning.field($0)) }
        let numbered = (attributes + fields).enumerated().map { index, name in
            (name.0, Name(number: UInt64(index), meaning: name.1))
        }
        return Dictionary(uniqueKeysWithValues: numbered)
    }()

    private enum Field: String, CaseIterable {
        case itemClass = "Class"
        case accessGroup = "AccessGroup"
        case accessible = "Accessible"
        case accessControl = "AccessControl"
        case synchronizable = "Synchronizable"
        case expires = "Expires"
        case freshUntil = "FreshUntil"
        case reference = "Reference"
        case revision = "Revision"
        case created = "Created"
        case modified = "Modified"
        case limit = "Limit"
        case skipGated = "SkipGated"
        case ifRevision = "IfRevision"
        case applicationPassword = "ApplicationPassword"
    }

    private mutating func read(_ value: WireDictionary.Value, as field: Field) throws(Refusal) {
        switch field {
        case .itemClass: itemClass = try Self.itemClass(value)
        case .accessGroup: accessGroup = try Self.accessGroup(value)
        case .accessible: accessible = try Self.accessibility(named: Self.text(value))
        case .accessControl: accessControl = try Self.accessControl(value)
        case .synchronizable: synchronizable = try Self.synchronizable(value)
        case .expires: expires = try Self.time(value)
        case .freshUntil: freshUntil = try Self.time(value)
        case .reference: reference = try Self.reference(value)
        case .revision: revision = try Self.time(value)
        case .created: created = try Self.time(value)
        case .modified: modified = try Self.time(value)
        case .limit: limit = try Self.number(value)
        case .skipGated: skipGated = try Self.flag(value)
        case .ifRevision: ifRevision = try Self.time(value)
        case .applicationPassword: applicationPassword = try Self.secret(value)
        }
    }
}
