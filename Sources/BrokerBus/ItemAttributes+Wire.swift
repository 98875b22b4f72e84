public import BrokerModel
public import SDBus

/// An item's attributes in a reply.
public struct AttributesReply: BusEncodable {
    private let item: ItemAttributes

    /// The reply for an item.
    public init(_ item: ItemAttributes) { self.item = item }

    /// `a{sv}`.
    public static var signature: String { "a{sv}" }

    /// Appends what was given, and what is always there (INTERFACE, attributes and queries).
    public func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.open("a", "{sv}")
        try writer.text("Class", item.itemClass.name)
        try writer.text("AccessGroup", item.accessGroup.name)
        switch item.protection {
        case .accessible(let accessibility): try writer.text("Accessible", accessibility.name)
        case .accessControl(let control): try writer.entry("AccessControl", control)
        }
        try writer.entry("Synchronizable", item.synchronizable)
        for pair in item.attributes.pairs { try write(pair, to: &writer) }
        if let expires = item.expires { try writer.time("Expires", expires) }
        if let freshUntil = item.freshUntil { try writer.time("FreshUntil", freshUntil) }
        try writer.text("Reference", item.reference.description)
        try writer.time("Revision", item.revision)
        try writer.time("Created", item.created)
        try writer.time("Modified", item.modified)
        try writer.close()
    }

    private func write(_ pair: AttributeSet.Pair, to writer: inout MessageWriter) throws(BusError) {
        switch pair.value {
        case .text(let bytes):
            try writer.pair(pair.key.name, "s") { (writer) throws(BusError) in
                try writer.text(utf8: bytes.span)
            }
        case .bytes(let bytes): try writer.entry(pair.key.name, bytes)
        case .number(let number): try writer.entry(pair.key.name, number)
        case .flag(let flag): try writer.entry(pair.key.name, flag)
        }
    }
}

// The entries of every reply, with signatures that need not be made into C strings.
extension MessageWriter {
    fileprivate mutating func pair(
        _ key: String, _ signature: StaticString,
        _ value: (inout MessageWriter) throws(BusError) -> Void
    ) throws(BusError) {
        try open("e", "sv")
        try append(key)
        try open("v", signature)
        try value(&self)
        try close()
        try close()
    }

    fileprivate mutating func text(_ key: String, _ text: String) throws(BusError) {
        try pair(key, "s") { (writer) throws(BusError) in try writer.append(text) }
    }

    fileprivate mutating func time(_ key: String, _ time: UInt64) throws(BusError) {
        try pair(key, "t") { (writer) throws(BusError) in try writer.append(time) }
    }
}

extension AccessControl: BusEncodable {
    /// `(sas)`.
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
