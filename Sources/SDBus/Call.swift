internal import CSystemd
internal import Glibc

/// A method call while its handler runs. It cannot be kept: take what is needed after an `await` out of it first.
@safe public struct Call: ~Copyable {
    let message: OpaquePointer
    let isSensitive: Bool
    /// The connection that the call came in on.
    public let connection: Connection
    private let exported: Exported

    init(_ message: OpaquePointer, to exported: Exported, on connection: Connection, isSensitive: Bool) {
        unsafe self.message = message
        self.exported = exported
        self.connection = connection
        self.isSensitive = isSensitive
    }

    /// The caller's unique name, as the bus gives it. Nil on a direct connection, whatever its messages say.
    public var sender: String? { unsafe string(senderStart) }

    /// Compares the caller's unique name without making a string.
    public func senderMatches(_ name: String) -> Bool {
        guard let start = unsafe senderStart else { return false }
        return unsafe strcmp(start, name) == 0
    }

    /// A hash (FNV-1a) of the caller's unique name; 0 when there is none.
    public var senderHash: UInt64 {
        guard var next = unsafe senderStart else { return 0 }
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        while unsafe next.pointee != 0 {
            hash = unsafe (hash ^ UInt64(UInt8(bitPattern: next.pointee))) &* 0x100_0000_01b3
            unsafe next += 1
        }
        return hash
    }

    /// The object that is called.
    public var path: String { unsafe string(sd_bus_message_get_path(message)) ?? "" }

    /// The interface, empty when the caller named none.
    public var interface: String { unsafe string(sd_bus_message_get_interface(message)) ?? "" }

    /// The method.
    public var member: String { unsafe string(sd_bus_message_get_member(message)) ?? "" }

    /// The caller's flag `ALLOW_INTERACTIVE_AUTHORIZATION`.
    public var allowsInteraction: Bool {
        unsafe sd_bus_message_get_allow_interactive_authorization(message) > 0
    }

    /// False when the caller wants no reply; none is sent then.
    public var expectsReply: Bool { unsafe sd_bus_message_get_expect_reply(message) > 0 }

    private var senderStart: UnsafePointer<CChar>? {
        // On a direct connection the sender is what the peer likes to write there.
        guard unsafe sd_bus_is_bus_client(sd_bus_message_get_bus(message)) > 0 else { return nil }
        return unsafe sd_bus_message_get_sender(message)
    }
}

extension Call {
    /// A reader at the first argument.
    @usableFromInline func makeReader() -> MessageReader { unsafe MessageReader(message) }

    /// Sends the reply that `write` fills in.
    @usableFromInline @BrokerActor func reply(
        _ write: (inout MessageWriter) throws(BusError) -> Void
    ) throws(BusError) {
        try unsafe Replies.send(to: message, on: connection, isSensitive: isSensitive, write)
    }

    /// What answers the call after its handler has returned.
    @usableFromInline @BrokerActor func makeDeferred() -> DeferredReply {
        unsafe DeferredReply(message, to: exported, on: connection, isSensitive: isSensitive)
    }
}
