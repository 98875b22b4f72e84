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
        if queued == 0 && sizes.isEmpty { return false }
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
    /// it is closed later. For a server's end of a direct connection; ends with the result.
    public func limitBacklog(
        bytes: Int, messages: Int, exceeded: @escaping @BrokerActor () -> Void
    ) -> Registration {
        backlog = Backlog(bytesMax: bytes, messagesMax: messages, exceeded: exceeded)
        let registration = Registration()
        registration.atEnd { [weak self] in self?.backlog = nil }
        return registration
    }

    func noteSent(bytes: Int) {
        guard let pump else { return }
        let queued = Int(clamping: queuedMessages)
        pump.awaitRoom(queued > 0)
        if backlog?.add(bytes, queued: queued) == true { backlog?.exceeded() }
    }

    /// What sd-bus answered by itself is seen here, before the peer's next message is served.
    func noteQueue() {
        let queued = Int(clamping: queuedMessages)
        if backlog?.settle(queued: queued) == true { backlog?.exceeded() }
    }
}
