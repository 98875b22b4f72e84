public import BrokerModel
public import SDBus

/// An item's attributes in a reply.
public struct AttributesReply: BusEncodable {
    private let item: ItemAttributes

    /// The reply for an item.
    public init(_ item: ItemAttributes) { self.item = item }

    public static var signature: String { "a{sv}" }

    /// Appends what was given, and what is always there (INTERFACE, attributes and queries).
    public func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.open("a", "{sv}")
        try writer.entry("Class", item.itemClass.name)
        try writer.entry("AccessGroup", item.accessGroup.name)
        switch item.protection {
        case .accessible(let accessibility): try writer.entry("Accessible", accessibility.name)
        case .accessControl(let control): try writer.entry("AccessControl", control)
        }
        try writer.entry("Synchronizable", item.synchronizable)
        for pair in item.attributes.pairs { try write(pair, to: &writer) }
        if let expires = item.expires { try writer.entry("Expires", expires) }
        if let freshUntil = item.freshUntil { try writer.entry("FreshUntil", freshUntil) }
        try writer.entry("Reference", item.reference.description)
        try writer.entry("Revision", item.revision)
        try writer.entry("Created", item.created)
        try writer.entry("Modified", item.modified)
        try writer.close()
    }

    private func write(_ pair: AttributeSet.Pair, to writer: inout MessageWriter) throws(BusError) {
        switch pair.value {
        case .text(let bytes): try writer.entry(pair.key.name, String(decoding: bytes, as: UTF8.self))
        case .bytes(let bytes): try writer.entry(pair.key.name, bytes)
        case .number(let number): try writer.entry(pair.key.name, number)
        case .flag(let flag): try writer.entry(pair.key.name, flag)
        }
    }
}

extension AccessControl: BusEncodable {
    public static var signature: String { "(sas)" }

    /// Appends protection and flags, in the order of their numbers.
    public func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.open("r", "sas")
        try writer.append(protection.name)
        try writer.append(Flag.allCases.filter(flags.contains).map(\.name))
        try writer.close()
    }
}

/// One item of `ReadAll`: `(a{sv}(oayay))`.
struct ItemReply: BusEncodable {
    let attributes: AttributesReply
    let secret: OutgoingSecret

    init(_ item: ItemWithSecret, for session: SecretSession) {
        attributes = AttributesReply(item.attributes)
        secret = OutgoingSecret(item.secret, for: session)
    }

    static var signature: String { "(a{sv}(oayay))" }

    func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.open("r", "a{sv}(oayay)")
        try attributes.encode(to: &writer)
        try secret.encode(to: &writer)
        try writer.close()
    }
}
