/// One task that sleeps on the loop: resumed by its timer or by its cancellation, whichever is first.
@BrokerActor final class Sleeper {
    private var continuation: CheckedContinuation<Void, Never>?
    private var timer: Timer?
    private(set) var isCancelled = false

    init() {}

    func start(
        _ continuation: CheckedContinuation<Void, Never>, loop: EventLoop, clock: EventClock, deadline: UInt64
    ) {
        // Cancelled before it slept: the handler may have run already.
        guard !isCancelled else { return continuation.resume() }
        self.continuation = continuation
        timer = loop.timer(clock: clock, at: deadline) { self.finish() }
    }

    func cancel() {
        guard continuation != nil || timer == nil else { return }
        isCancelled = true
        finish()
    }

    private func finish() {
        timer?.cancel()
        continuation?.resume()
        continuation = nil
    }
}
