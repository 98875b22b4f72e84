internal import CSystemd

/// A signal while its handler runs. It cannot be kept.
@safe public struct ReceivedSignal: ~Copyable {
    private let message: OpaquePointer

    init(_ message: OpaquePointer) {
        unsafe self.message = message
    }

    /// Who sent it, as the bus says; nil on a direct connection.
    public var sender: String? {
        guard unsafe sd_bus_is_bus_client(sd_bus_message_get_bus(message)) > 0 else { return nil }
        return unsafe string(sd_bus_message_get_sender(message))
    }

    /// The object that it is from.
    public var path: String { unsafe string(sd_bus_message_get_path(message)) ?? "" }

    /// Its interface.
    public var interface: String { unsafe string(sd_bus_message_get_interface(message)) ?? "" }

    /// Its name.
    public var member: String { unsafe string(sd_bus_message_get_member(message)) ?? "" }

    /// Reads its first value. Throws when that is of another type.
    public func read<Value: BusDecodable & ~Copyable>(_ type: Value.Type) throws(BusError) -> Value {
        try withReader { (reader) throws(BusError) in try reader.read(type) }
    }

    /// Reads its values from the first on. Throws when it holds other types.
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
}
