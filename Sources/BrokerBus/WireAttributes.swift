internal import BrokerModel
internal import SDBus
internal import Sodium

/// An `a{sv}` of a request, with secrets still sealed: a session opens them in message order.
struct WireAttributes: BusDecodable {
    private var dictionary = WireDictionary()
    /// By their place in the dictionary, where something else stands for each.
    private var sealed: [(index: Int, secret: SealedSecret)] = []

    static var signature: String { "a{sv}" }

    init(from reader: inout MessageReader) throws(BusError) {
        _ = try reader.enter("a", "{sv}")
        while try reader.enter("e", "sv") {
            let key = try reader.read(String.self)
            let value = try value(&reader)
            try reader.exit()
            try onWire { () throws(Refusal) in try dictionary.append(key, value) }
        }
        try reader.exit()
    }

    private static func copy(_ bytes: Span<UInt8>) -> [UInt8] {
        var copy: [UInt8] = []
        copy.reserveCapacity(bytes.count)
        for index in bytes.indices { copy.append(bytes[index]) }
        return copy
    }

    private mutating func value(
        _ reader: inout MessageReader
    ) throws(BusError) -> WireDictionary.Value {
        if try reader.enterVariant("s") {
            let text = try reader.withUTF8 { bytes in Self.copy(bytes) }
            try reader.exit()
            return .text(text)
        }
        if try reader.enterVariant("ay") {
            let bytes = try reader.withBytes { bytes in Self.copy(bytes) }
            try reader.exit()
            return .bytes(bytes)
        }
        let contents = try reader.peekType().contents
        _ = try reader.enter(UInt8(ascii: "v"), contents: contents)
        let value = try rareValue(contents, &reader)
        try reader.exit()
        return value
    }

    private mutating func rareValue(
        _ contents: String, _ reader: inout MessageReader
    ) throws(BusError) -> WireDictionary.Value {
        switch contents {
        case "u": return .number(try reader.read())
        case "b": return .flag(try reader.read())
        case "t": return .time(try reader.read())
        case "(sas)":
            _ = try reader.enter("r", "sas")
            let protection = try reader.read(String.self)
            let flags = try reader.read([String].self)
            try reader.exit()
            return .accessControl(protection: protection, flags: flags)
        case "(oayay)":
            sealed.append((dictionary.entries.count, try reader.read()))
            return .other
        default:
            try reader.skip()
            return .other
        }
    }

    /// The dictionary with its secrets opened.
    @BrokerActor func opened(
        _ sessions: SessionTable, owner: String
    ) throws(Refusal) -> WireDictionary {
        var dictionary = dictionary
        for (index, secret) in sealed {
            let session = try sessions.session(secret.session.value, owner: owner)
            dictionary.replace(at: index, by: .secret(try session.open(secret)))
        }
        return dictionary
    }
}
