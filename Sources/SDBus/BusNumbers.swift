// The basic types. D-Bus integers have the machine's form in memory, so they are copied as they are.

extension UInt8: BusCodable {
    /// `y`.
    public static var signature: String { "y" }

    /// Appends the number.
    public func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.basic(UInt8(ascii: "y"), self)
    }

    /// Reads a number.
    public init(from reader: inout MessageReader) throws(BusError) {
        self = try reader.basic(UInt8(ascii: "y"), 0)
    }
}

extension Int16: BusCodable {
    /// `n`.
    public static var signature: String { "n" }

    /// Appends the number.
    public func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.basic(UInt8(ascii: "n"), self)
    }

    /// Reads a number.
    public init(from reader: inout MessageReader) throws(BusError) {
        self = try reader.basic(UInt8(ascii: "n"), 0)
    }
}

extension UInt16: BusCodable {
    /// `q`.
    public static var signature: String { "q" }

    /// Appends the number.
    public func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.basic(UInt8(ascii: "q"), self)
    }

    /// Reads a number.
    public init(from reader: inout MessageReader) throws(BusError) {
        self = try reader.basic(UInt8(ascii: "q"), 0)
    }
}

extension Int32: BusCodable {
    /// `i`.
    public static var signature: String { "i" }

    /// Appends the number.
    public func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.basic(UInt8(ascii: "i"), self)
    }

    /// Reads a number.
    public init(from reader: inout MessageReader) throws(BusError) {
        self = try reader.basic(UInt8(ascii: "i"), 0)
    }
}

extension UInt32: BusCodable {
    /// `u`.
    public static var signature: String { "u" }

    /// Appends the number.
    public func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.basic(UInt8(ascii: "u"), self)
    }

    /// Reads a number.
    public init(from reader: inout MessageReader) throws(BusError) {
        self = try reader.basic(UInt8(ascii: "u"), 0)
    }
}

extension Int64: BusCodable {
    /// `x`.
    public static var signature: String { "x" }

    /// Appends the number.
    public func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.basic(UInt8(ascii: "x"), self)
    }

    /// Reads a number.
    public init(from reader: inout MessageReader) throws(BusError) {
        self = try reader.basic(UInt8(ascii: "x"), 0)
    }
}

extension UInt64: BusCodable {
    /// `t`.
    public static var signature: String { "t" }

    /// Appends the number.
    public func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.basic(UInt8(ascii: "t"), self)
    }

    /// Reads a number.
    public init(from reader: inout MessageReader) throws(BusError) {
        self = try reader.basic(UInt8(ascii: "t"), 0)
    }
}

extension Double: BusCodable {
    /// `d`.
    public static var signature: String { "d" }

    /// Appends the number.
    public func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.basic(UInt8(ascii: "d"), self)
    }

    /// Reads a number.
    public init(from reader: inout MessageReader) throws(BusError) {
        self = try reader.basic(UInt8(ascii: "d"), 0)
    }
}
