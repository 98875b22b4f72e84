internal import CSystemd

/// Holds a call until it is answered.
@safe @BrokerActor @usableFromInline final class DeferredReply {
    private let message: OpaquePointer
    // sd-bus has left a pointer to the method's signature in the message, and that lies in the interface's table:
    // where the object is gone before the answer comes, this alone keeps it.
    private let exported: Exported
    private let connection: Connection
    private let isSensitive: Bool

    init(_ message: OpaquePointer, to exported: Exported, on connection: Connection, isSensitive: Bool) {
        unsafe self.message = sd_bus_message_ref(message)
        self.exported = exported
        self.connection = connection
        self.isSensitive = isSensitive
    }

    /// Runs `work` and sends its result, or the error that it threw.
    @usableFromInline func serve<Result: ~Copyable>(
        _ work: @BrokerActor () async throws(BusError) -> Result,
        encode: (borrowing Result, inout MessageWriter) throws(BusError) -> Void
    ) async {
        do throws(BusError) {
            let result = try await work()
            try unsafe Replies.send(to: message, on: connection, isSensitive: isSensitive) {
                (writer) throws(BusError) in
                try encode(result, &writer)
            }
        } catch {
            unsafe Replies.fail(message, on: connection, error)
        }
    }

    isolated deinit {
        _ = unsafe sd_bus_message_unref(message)
    }
}
