internal import BrokerModel
internal import SDBus

/// Lookup attributes on the bus, `a{ss}`. Two names are two where their bytes differ, which a dictionary of Swift's would
/// not have of texts that look alike.
struct WireAttributes: BusDecodable, BusEncodable, Sendable {
    let attributes: LookupAttributes

    static var signature: String { "a{ss}" }

    init(_ attributes: LookupAttributes) { self.attributes = attributes }

    init(from reader: inout MessageReader) throws(BusError) {
        var pairs: [LookupAttributes.Pair] = []
        _ = try reader.enter(UInt8(ascii: "a"), contents: "{ss}")
        while try reader.enter(UInt8(ascii: "e"), contents: "ss") {
            let name = try String(from: &reader)
            pairs.append(.init(name: Array(name.utf8), value: Array(try String(from: &reader).utf8)))
            try reader.exit()
        }
        try reader.exit()
        attributes = LookupAttributes(pairs)
    }

    func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.open(UInt8(ascii: "a"), contents: "{ss}")
        for pair in attributes.pairs {
            try writer.open(UInt8(ascii: "e"), contents: "ss")
            try String(decoding: pair.name, as: UTF8.self).encode(to: &writer)
            try String(decoding: pair.value, as: UTF8.self).encode(to: &writer)
            try writer.close()
        }
        try writer.close()
    }
}
