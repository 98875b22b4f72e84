internal import CSystemd

/// Holds a call until it is answered.
@safe @BrokerActor @usableFromInline final class DeferredReply {
    private let message: OpaquePointer
    private let connection: Connection
    private let isSensitive: Bool

    init(_ message: OpaquePointer, on connection: Connection, isSensitive: Bool) {
        unsafe self.message = sd_bus_message_ref(message)
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
