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
        _ = try reader.enter(UInt8(ascii: "v"), contents: contents)
        let value: Value
        switch contents {
        case "s": value = .plain(.text(try reader.withUTF8 { bytes in Self.copy(bytes) }))
        case "ay": value = .plain(.bytes(try reader.withBytes { bytes in Self.copy(bytes) }))
        case "u": value = .plain(.number(try reader.read()))
        case "b": value = .plain(.flag(try reader.read()))
        case "t": value = .plain(.time(try reader.read()))
        case "(sas)":
            _ = try reader.enter("r", "sas")
            let protection = try reader.read(String.self)
            value = .plain(.accessControl(protection: protection, flags: try reader.read()))
            try reader.exit()
        case "(oayay)": value = .sealed(try reader.read())
        default:
            try reader.skip()
            value = .plain(.other)
        }
        try reader.exit()
        return value
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
