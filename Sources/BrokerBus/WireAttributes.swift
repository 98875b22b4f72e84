internal import BrokerModel
internal import SDBus
internal import Sodium

/// An `a{sv}` of a request, with secrets still sealed: a session opens them in message order.
struct WireAttributes: BusDecodable {
    private var entries: [(key: String, value: Value)] = []

    private enum Value {
        case plain(WireDictionary.Value)
        case sealed(SealedSecret)
    }

    static var signature: String { "a{sv}" }

    init(from reader: inout MessageReader) throws(BusError) {
        _ = try reader.enter("a", "{sv}")
        while try reader.enter("e", "sv") {
            let key = try reader.read(String.self)
            entries.append((key, try Self.value(&reader)))
            try reader.exit()
            guard entries.count <= Limits.dictionaryEntriesMax else {
                throw BusError(
                    Refusal(.tooLarge, "The request names more attributes than an item can have."))
            }
        }
        try reader.exit()
    }

    private static func copy(_ bytes: Span<UInt8>) -> [UInt8] {
        [UInt8](capacity: bytes.count) { output in
            for index in bytes.indices { output.append(bytes[index]) }
        }
    }

    private static func value(_ reader: inout MessageReader) throws(BusError) -> Value {
        let contents = try reader.peekType().contents
        switch contents {
        case "s":
            _ = try reader.enter("v", "s")
            let text = try reader.withUTF8 { bytes in Self.copy(bytes) }
            try reader.exit()
            return .plain(.text(text))
        case "ay":
            _ = try reader.enter("v", "ay")
            let bytes = try reader.withBytes { bytes in Self.copy(bytes) }
            try reader.exit()
            return .plain(.bytes(bytes))
        default:
            _ = try reader.enter(UInt8(ascii: "v"), contents: contents)
            let value = try rareValue(contents, &reader)
            try reader.exit()
            return value
        }
    }

    private static func rareValue(
        _ contents: String, _ reader: inout MessageReader
    ) throws(BusError) -> Value {
        switch contents {
        case "u": return .plain(.number(try reader.read()))
        case "b": return .plain(.flag(try reader.read()))
        case "t": return .plain(.time(try reader.read()))
        case "(sas)":
            _ = try reader.enter("r", "sas")
            let protection = try reader.read(String.self)
            let flags = try reader.read([String].self)
            try reader.exit()
            return .plain(.accessControl(protection: protection, flags: flags))
        case "(oayay)": return .sealed(try reader.read())
        default:
            try reader.skip()
            return .plain(.other)
        }
    }

    /// The dictionary with its secrets opened.
    @BrokerActor func opened(
        _ sessions: SessionTable, owner: String
    ) throws(Refusal) -> WireDictionary {
        var dictionary = WireDictionary()
        for (key, value) in entries {
            switch value {
            case .plain(let value): try dictionary.append(key, value)
            case .sealed(let sealed):
                let session = try sessions.session(sealed.session.value, owner: owner)
                try dictionary.append(key, .secret(try session.open(sealed)))
            }
        }
        return dictionary
    }
}
