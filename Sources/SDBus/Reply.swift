internal import CSystemd

/// A reply that came to a call.
@safe @BrokerActor public final class Reply {
    private let message: OpaquePointer

    init(_ message: OpaquePointer) {
        unsafe self.message = sd_bus_message_ref(message)
    }

    /// Its types.
    public var signature: String { unsafe string(sd_bus_message_get_signature(message, 1)) ?? "" }

    /// Reads its first value. Throws when that is of another type.
    public func read<Value: BusDecodable & ~Copyable>(_ type: Value.Type) throws(BusError) -> Value {
        try withReader { (reader) throws(BusError) in try reader.read(type) }
    }

    /// Reads its values from the first on: `let (name, age) = try reply.read(String.self, UInt32.self)`.
    /// Throws when the reply holds other types; values that follow may be left unread.
    public func read<First: BusDecodable, Second: BusDecodable, each Rest: BusDecodable>(
        _ first: First.Type, _ second: Second.Type, _ rest: repeat (each Rest).Type
    ) throws(BusError) -> (First, Second, repeat each Rest) {
        try check(unsafe sd_bus_message_rewind(message, 1))
        var reader = unsafe MessageReader(message)
        return try (First(from: &reader), Second(from: &reader), repeat (each Rest)(from: &reader))
    }

    /// Reads it by hand from the first value on.
    public func withReader<Result: ~Copyable>(
        _ body: (inout MessageReader) throws(BusError) -> Result
    ) throws(BusError) -> Result {
        try check(unsafe sd_bus_message_rewind(message, 1))
        var reader = unsafe MessageReader(message)
        return try body(&reader)
    }

    isolated deinit {
        _ = unsafe sd_bus_message_unref(message)
    }
}
