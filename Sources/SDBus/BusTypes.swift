extension Bool: BusCodable {
    /// `b`.
    public static var signature: String { "b" }

    /// Appends the truth value.
    public func encode(to writer: inout MessageWriter) throws(BusError) {
        // sd-bus takes a C int.
        try writer.basic(UInt8(ascii: "b"), Int32(self ? 1 : 0))
    }

    /// Reads a truth value.
    public init(from reader: inout MessageReader) throws(BusError) {
        self = try reader.basic(UInt8(ascii: "b"), Int32(0)) != 0
    }
}

extension String: BusCodable {
    /// `s`.
    public static var signature: String { "s" }

    /// Appends the text. Throws when it holds a NUL.
    public func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.text(self)
    }

    /// Reads a text.
    public init(from reader: inout MessageReader) throws(BusError) {
        self = try reader.text(UInt8(ascii: "s"))
    }
}

/// The path of an object.
public struct ObjectPath: BusCodable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible
{
    /// The path as text.
    public let value: String

    /// Takes the text as it is; a text that is no path cannot be sent.
    public init(_ value: String) {
        self.value = value
    }

    /// Takes a literal.
    public init(stringLiteral value: String) {
        self.value = value
    }

    /// The path.
    public var description: String { value }

    /// `o`.
    public static var signature: String { "o" }

    /// Appends the path. Throws when it is none.
    public func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.checkedText(UInt8(ascii: "o"), value)
    }

    /// Reads a path, which the bus has validated.
    public init(from reader: inout MessageReader) throws(BusError) {
        value = try reader.text(UInt8(ascii: "o"))
    }
}

extension Array: BusType where Element: BusType {
    /// `a` and the element's type.
    public static var signature: String { "a" + Element.signature }
}

extension Array: BusEncodable where Element: BusEncodable {
    /// Appends the elements; bytes go in one piece.
    public func encode(to writer: inout MessageWriter) throws(BusError) {
        // The cast alone would take every empty array for one of bytes.
        if Element.self == UInt8.self, let bytes = self as? [UInt8] { return try writer.bytes(bytes.span) }
        try writer.open(UInt8(ascii: "a"), contents: Element.signature)
        for element in self { try element.encode(to: &writer) }
        try writer.close()
    }
}

extension Array: BusDecodable where Element: BusDecodable {
    /// Reads the elements; bytes come in one piece.
    public init(from reader: inout MessageReader) throws(BusError) {
        if Element.self == UInt8.self {
            let bytes = try reader.withBytes { bytes in [UInt8](copying: bytes) }
            self = bytes as? [Element] ?? []
            return
        }
        self = []
        _ = try reader.enter(UInt8(ascii: "a"), contents: Element.signature)
        while try !reader.isAtEnd() { append(try Element(from: &reader)) }
        try reader.exit()
    }
}

extension Array where Element == UInt8 {
    /// A copy of the bytes.
    init(copying bytes: Span<UInt8>) {
        self.init(capacity: bytes.count) { output in
            for index in bytes.indices { output.append(bytes[index]) }
        }
    }
}

extension Dictionary: BusType where Key: BusType, Value: BusType {
    /// A dictionary of D-Bus.
    public static var signature: String { "a{" + Key.signature + Value.signature + "}" }
}

extension Dictionary: BusEncodable where Key: BusEncodable, Value: BusEncodable {
    /// Appends the entries, in no order.
    public func encode(to writer: inout MessageWriter) throws(BusError) {
        let contents = Key.signature + Value.signature
        try writer.open(UInt8(ascii: "a"), contents: "{" + contents + "}")
        for (key, value) in self {
            try writer.open(UInt8(ascii: "e"), contents: contents)
            try key.encode(to: &writer)
            try value.encode(to: &writer)
            try writer.close()
        }
        try writer.close()
    }
}

extension Dictionary: BusDecodable where Key: BusDecodable, Value: BusDecodable {
    /// Reads the entries; of two with one key the later stands.
    public init(from reader: inout MessageReader) throws(BusError) {
        self = [:]
        let contents = Key.signature + Value.signature
        _ = try reader.enter(UInt8(ascii: "a"), contents: "{" + contents + "}")
        while try reader.enter(UInt8(ascii: "e"), contents: contents) {
            let key = try Key(from: &reader)
            self[key] = try Value(from: &reader)
            try reader.exit()
        }
        try reader.exit()
    }
}
