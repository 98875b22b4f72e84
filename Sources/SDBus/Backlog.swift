internal import CSystemd
internal import Glibc

/// What a peer has not taken yet, in bytes: sd-bus counts messages alone, and a message can be large.
struct Backlog {
    private var sizes: [Int] = []
    private var bytes = 0
    private let bytesMax: Int
    private let messagesMax: Int
    private var isExceeded = false
    let exceeded: @BrokerActor () -> Void

    /// A header, and what sd-bus answers by itself, of which introspection is the largest.
    private static let headerBytes = 256
    private static let unseenBytes = 16 << 10

    init(bytesMax: Int, messagesMax: Int, exceeded: @escaping @BrokerActor () -> Void) {
        self.bytesMax = bytesMax
        self.messagesMax = messagesMax
        self.exceeded = exceeded
    }

    /// A message of ours went out, or into the queue, which is now of that length. True when that is the first time
    /// that it is too much.
    mutating func add(_ bytes: Int, queued: Int) -> Bool {
        if queued > 0 { push(bytes + Self.headerBytes) }
        return settle(queued: queued)
    }

    /// Looks how long the queue is by now. True when that is the first time that it is too much.
    mutating func settle(queued: Int) -> Bool {
        if queued < sizes.count {
            let gone = sizes.count - queued
            bytes -= sizes.prefix(gone).reduce(0, +)
            sizes.removeFirst(gone)
        }
        while sizes.count < queued { push(Self.unseenBytes) }
        guard !isExceeded, bytes > bytesMax || queued > messagesMax else { return false }
        isExceeded = true
        return true
    }

    private mutating func push(_ size: Int) {
        sizes.append(size)
        bytes += size
    }
}

extension Connection {
    /// Calls `exceeded` once, when more than that waits for the other side to take it. The connection is in use then, so
    /// it is closed later. Ends with the result.
    public func limitBacklog(
        bytes: Int, messages: Int, exceeded: @escaping @BrokerActor () -> Void
    ) throws(BusError) -> Registration {
        backlog = Backlog(bytesMax: bytes, messagesMax: messages, exceeded: exceeded)
        let userdata = unsafe Unmanaged.passRetained(WeakConnection(self))
        var slot: OpaquePointer?
        let result = unsafe sd_bus_add_filter(bus, &slot, messageArrived, userdata.toOpaque())
        guard result >= 0, let slot = unsafe slot else {
            unsafe userdata.release()
            throw BusError(errno: result)
        }
        let registration = Registration()
        unsafe registration.adopt(slot)
        registration.atEnd { [weak self] in self?.backlog = nil }
        return registration
    }

    func noteSent(bytes: Int) {
        guard backlog != nil else { return }
        let queued = Int(clamping: queuedMessages)
        if backlog?.add(bytes, queued: queued) == true { backlog?.exceeded() }
    }

    fileprivate func noteArrival() {
        // What sd-bus answered by itself is seen here, before the peer's next message is served.
        let queued = Int(clamping: queuedMessages)
        if backlog?.settle(queued: queued) == true { backlog?.exceeded() }
    }
}

/// The userdata of the filter: what a connection owns must not keep it alive.
@BrokerActor private final class WeakConnection {
    weak var connection: Connection?

    init(_ connection: Connection) { self.connection = connection }
}

private let messageArrived: sd_bus_message_handler_t = { _, userdata, _ in
    let holder = unsafe Unmanaged<WeakConnection>.fromOpaque(userdata!).takeUnretainedValue()
    BrokerActor.assumeIsolated { holder.connection?.noteArrival() }
    return 0
}
