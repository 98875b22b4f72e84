internal import CSystemd

/// A reply that came to a call.
@safe @BrokerActor public final class Reply {
    private let message: OpaquePointer

    init(_ message: OpaquePointer) {
        unsafe self.message = sd_bus_message_ref(message)
    }

    /// Its types.
    public var signature: String { unsafe string(sd_bus_message_get_signature(message, 1)) ?? "" }

    /// Reads its values from the first on: `let (name, age) = try reply.read(String.self, UInt32.self)`.
    /// Throws when the reply holds other types; values that follow may be left unread.
    public func read<each Value: BusDecodable>(
        _ types: repeat (each Value).Type
    ) throws(BusError) -> (repeat each Value) {
        try check(unsafe sd_bus_message_rewind(message, 1))
        var reader = unsafe MessageReader(message)
        return try (repeat (each Value)(from: &reader))
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
