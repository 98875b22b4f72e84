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

    /// Reads its values from the first on. Throws when it holds other types.
    public func read<each Value: BusDecodable>(
        _ types: repeat (each Value).Type
    ) throws(BusError) -> (repeat each Value) {
        try check(unsafe sd_bus_message_rewind(message, 1))
        var reader = unsafe MessageReader(message)
        return try (repeat (each Value)(from: &reader))
    }
}
