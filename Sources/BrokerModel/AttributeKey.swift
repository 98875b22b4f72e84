/// An attribute that a caller gives and gets back, beside those that have a field of their own in
/// ``ItemAttributes``.
///
/// The raw value is stored in the vault (docs/FORMATS.md) and never changes its meaning.
public enum AttributeKey: UInt8, CaseIterable, Comparable, Sendable {
    case service = 1
    case account = 2
    case server = 3
    case securityDomain = 4
    case `protocol` = 5
    case authenticationType = 6
    case path = 7
    case port = 8
    case generic = 9
    case label = 10
    case description = 11
    case comment = 12
    case creator = 13
    case type = 14
    case invisible = 15
    case negative = 16
    /// Where an item of `org.freedesktop.secrets` is: `login`, or the bytes of its collection's reference.
    case collection = 17
    /// The end of an object's path, where that is not its reference.
    case pathName = 18
    /// What a client says of the bytes of its secret.
    case contentType = 19
    /// ``LookupAttributes``.
    case lookup = 20
    /// The names that a collection has beside its path.
    case aliases = 21
    /// The class of an item's secret, where it has a row of its own: ``Accessibility``'s number.
    case secretAccessible = 22

    /// The dictionary key on the bus.
    public var name: String {
        switch self {
        case .service: "Service"
        case .account: "Account"
        case .server: "Server"
        case .securityDomain: "SecurityDomain"
        case .protocol: "Protocol"
        case .authenticationType: "AuthenticationType"
        case .path: "Path"
        case .port: "Port"
        case .generic: "Generic"
        case .label: "Label"
        case .description: "Description"
        case .comment: "Comment"
        case .creator: "Creator"
        case .type: "Type"
        case .invisible: "Invisible"
        case .negative: "Negative"
        case .collection: "Collection"
        case .pathName: "PathName"
        case .contentType: "ContentType"
        case .lookup: "Lookup"
        case .aliases: "Aliases"
        case .secretAccessible: "SecretAccessible"
        }
    }

    /// Whether only items of internal classes have it.
    public var isInternal: Bool { self >= .collection }

    /// The type a value must have, else `Param`.
    public var kind: Kind {
        switch self {
        case .port, .creator, .type, .secretAccessible: .number
        case .invisible, .negative: .flag
        default: .blob
        }
    }

    /// Whether items of the class have it; one that does not is `NoSuchAttribute`.
    public func belongs(to itemClass: ItemClass) -> Bool {
        if isInternal || itemClass.isInternal { return belongs(toInternal: itemClass) }
        return switch self {
        case .service: itemClass == .genericPassword
        case .server, .securityDomain, .protocol, .authenticationType, .path, .port:
            itemClass == .internetPassword
        default: true
        }
    }

    /// Whether items of the class are found by a value of it. Not by ``lookup``, whose pairs are looked for one by one.
    public func isIndexed(in itemClass: ItemClass) -> Bool {
        itemClass.isInternal ? self == .collection || self == .pathName : true
    }

    private func belongs(toInternal itemClass: ItemClass) -> Bool {
        switch itemClass {
        case .genericPassword, .internetPassword: false
        case .secretServiceItem:
            [.label, .collection, .pathName, .contentType, .lookup, .secretAccessible].contains(self)
        case .secretServiceCollection: [.label, .pathName, .aliases].contains(self)
        case .secretServiceSecret: false
        }
    }

    /// The order of the stored numbers.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The types of attribute values.
    public enum Kind: Sendable {
        /// `s` or `ay`
        case blob
        /// `u`
        case number
        /// `b`
        case flag
    }
}
