internal import SDBus

/// The input of `OpenSession`: a variant of `s` or `ay`.
enum SessionInput: BusDecodable {
    case text(String)
    case bytes([UInt8])
    case other

    static var signature: String { "v" }

    init(from reader: inout MessageReader) throws(BusError) {
        let contents = try reader.peekType().contents
        _ = try reader.enter(UInt8(ascii: "v"), contents: contents)
        switch contents {
        case "s": self = .text(try reader.read())
        case "ay": self = .bytes(try reader.read())
        default:
            try reader.skip()
            self = .other
        }
        try reader.exit()
    }
}

/// The output of `OpenSession`, in the input's type.
enum SessionOutput: BusEncodable {
    case text(String)
    case bytes([UInt8])

    static var signature: String { "v" }

    func encode(to writer: inout MessageWriter) throws(BusError) {
        switch self {
        case .text(let text): try writer.variant(text)
        case .bytes(let bytes): try writer.variant(bytes)
        }
    }
}
