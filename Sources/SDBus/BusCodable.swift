/// A type with a form on the wire. The signature may be a sequence of types: a reply of several values can be one
/// type that encodes them all.
public protocol BusType: ~Copyable, SendableMetatype {
    /// Its D-Bus types.
    static var signature: String { get }
}

/// What can be written into a message.
public protocol BusEncodable: BusType, ~Copyable {
    /// Appends itself, as its signature says.
    borrowing func encode(to writer: inout MessageWriter) throws(BusError)
}

/// What can be read from a message.
public protocol BusDecodable: BusType, ~Copyable {
    /// Reads itself, as its signature says. An error thrown here is what the caller gets.
    init(from reader: inout MessageReader) throws(BusError)
}

/// Both.
public typealias BusCodable = BusEncodable & BusDecodable
