internal import CSystemd
internal import Glibc

/// A call that waits for its reply. It is finished once, by the reply, the deadline, a cancellation or the close.
@safe @BrokerActor final class PendingCall {
    private let isSensitive: Bool
    private var slot: OpaquePointer?
    private var continuation: CheckedContinuation<Result<Reply, BusError>, Never>?
    private var isCancelled = false
    private weak var connection: Connection?

    init(isSensitive: Bool) {
        self.isSensitive = isSensitive
    }

    /// Queues the message. What goes wrong at once resumes the continuation at once.
    func start(
        _ message: OpaquePointer, on connection: Connection, timeoutMicroseconds: UInt64,
        _ continuation: CheckedContinuation<Result<Reply, BusError>, Never>
    ) {
        // Cancelled before it was sent: then it is not sent.
        if isCancelled { return continuation.resume(returning: .failure(.cancelled)) }
        let userdata = unsafe Unmanaged.passRetained(self)
        let result = unsafe sd_bus_call_async(
            connection.bus, &slot, message, replyArrived, userdata.toOpaque(), timeoutMicroseconds)
        guard result >= 0, let slot = unsafe slot else {
            unsafe userdata.release()
            return continuation.resume(returning: .failure(BusError(errno: result)))
        }
        unsafe sd_bus_slot_set_destroy_callback(slot) { userdata in
            unsafe Unmanaged<PendingCall>.fromOpaque(userdata!).release()
        }
        self.continuation = continuation
        self.connection = connection
        connection.waiting[ObjectIdentifier(self)] = { self.finish(.failure(.disconnected)) }
    }

    /// Gives the call up; a reply that comes later is dropped.
    func cancel() {
        isCancelled = true
        finish(.failure(.cancelled))
    }

    func finish(_ result: Result<Reply, BusError>) {
        guard let continuation else { return }
        self.continuation = nil
        connection?.waiting[ObjectIdentifier(self)] = nil
        continuation.resume(returning: result)
        let ended = unsafe slot
        unsafe slot = nil
        _ = unsafe sd_bus_slot_unref(ended)
    }

    fileprivate func take(_ message: OpaquePointer) {
        if isSensitive { _ = unsafe sd_bus_message_sensitive(message) }
        if let error = unsafe BusError(message: message) {
            finish(.failure(error))
        } else {
            finish(.success(unsafe Reply(message)))
        }
    }
}

private let replyArrived: sd_bus_message_handler_t = { message, userdata, _ in
    let call = unsafe Unmanaged<PendingCall>.fromOpaque(userdata!).takeUnretainedValue()
    // The loop calls back on its own thread, which assumeIsolated checks and the compiler cannot see.
    nonisolated(unsafe) let message = unsafe message!
    BrokerActor.assumeIsolated { unsafe call.take(message) }
    return 1
}
