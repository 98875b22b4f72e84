public import BrokerModel
public import SDBus

/// Lookup attributes on the bus. Two names are two where their bytes differ, which a dictionary of Swift's would not have of
/// texts that look alike.
extension LookupAttributes: BusDecodable, BusEncodable {
    /// `a{ss}`.
    public static var signature: String { "a{ss}" }

    /// Takes the pairs in any order; of two with one name the later stands.
    public init(from reader: inout MessageReader) throws(BusError) {
        var pairs: [Pair] = []
        _ = try reader.enter("a", "{ss}")
        while try reader.enter("e", "ss") {
            pairs.append(Pair(name: try reader.readUTF8(), value: try reader.readUTF8()))
            try reader.exit()
        }
        try reader.exit()
        self.init(pairs)
    }

    /// Appends the pairs, ascending by name.
    public func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.open("a", "{ss}")
        for pair in pairs {
            try writer.open("e", "ss")
            try writer.text(utf8: pair.name.span)
            try writer.text(utf8: pair.value.span)
            try writer.close()
        }
        try writer.close()
    }
}
