internal import BrokerBus
internal import BrokerModel
internal import SDBus

/// A value in a variant that arrived, as far as this interface has such.
enum ReceivedValue: BusDecodable {
    case text(String)
    case bytes([UInt8])
    case attributes(LookupAttributes)
    case other

    static var signature: String { "v" }

    init(from reader: inout MessageReader) throws(BusError) {
        let contents = try reader.peekType().contents
        _ = try reader.enter(UInt8(ascii: "v"), contents: contents)
        switch contents {
        case "s": self = .text(try reader.read())
        case "ay": self = .bytes(try reader.read())
        case "a{ss}": self = .attributes(try LookupAttributes(from: &reader))
        default:
            try reader.skip()
            self = .other
        }
        try reader.exit()
    }
}

/// The properties of what is to be made, `a{sv}`. One that is not known is passed over: clients of old send some.
struct NewProperties: BusDecodable {
    private var values: [String: ReceivedValue] = [:]

    static var signature: String { "a{sv}" }

    init(from reader: inout MessageReader) throws(BusError) {
        values = try reader.read()
    }

    /// Empty where there is none.
    func label(of interface: String) throws(BusError) -> String {
        switch values[interface + ".Label"] {
        case nil: return ""
        case .text(let label)?: return label
        default: throw .invalidArguments("Label is a text.")
        }
    }

    /// None where there are none.
    func attributes() throws(BusError) -> LookupAttributes {
        switch values[SecretServiceName.item + ".Attributes"] {
        case nil: return LookupAttributes()
        case .attributes(let attributes)?: return attributes
        default: throw .invalidArguments("Attributes are a dictionary of texts, a{ss}.")
        }
    }
}
