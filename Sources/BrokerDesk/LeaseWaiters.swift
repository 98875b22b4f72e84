internal import BrokerModel
internal import SDBus

/// Who waits for somebody else's refresh. Whoever is woken looks for itself what has become of the item.
@BrokerActor final class LeaseWaiters {
    private final class Waiter {
        let connection: String
        var continuation: CheckedContinuation<Void, Never>?
        var timer: AnyObject?

        init(_ connection: String, _ continuation: CheckedContinuation<Void, Never>) {
            self.connection = connection
            self.continuation = continuation
        }

        func wake() {
            timer = nil
            continuation?.resume()
            continuation = nil
        }
    }

    private let clock: LeaseClock
    private var waiting: [Reference: [Waiter]] = [:]

    init(_ clock: LeaseClock) { self.clock = clock }

    /// Comes back when something happened to the item's lease, when the connection is gone, and at that time.
    func wait(for reference: Reference, _ connection: String, until time: UInt64) async {
        await withCheckedContinuation { continuation in
            let waiter = Waiter(connection, continuation)
            waiting[reference, default: []].append(waiter)
            if time < .max { waiter.timer = clock.timer(time) { waiter.wake() } }
        }
        waiting[reference]?.removeAll { $0.continuation == nil }
        if waiting[reference]?.isEmpty == true { waiting[reference] = nil }
    }

    /// In the order in which they came.
    func wake(_ reference: Reference) {
        for waiter in waiting[reference] ?? [] { waiter.wake() }
    }

    /// Where it is not known whose item is meant.
    func wakeAll() {
        for waiter in waiting.values.joined() { waiter.wake() }
    }

    func wake(of connection: String) {
        for waiter in waiting.values.joined() where waiter.connection == connection { waiter.wake() }
    }
}
