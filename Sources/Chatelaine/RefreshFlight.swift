internal import SDBus

/// One way to an access token that several callers wait for.
@BrokerActor final class RefreshFlight {
    private typealias Waiter = CheckedContinuation<Result<AccessToken, any Error>, Never>

    private var waiters: [UInt64: Waiter] = [:]
    private var lastNumber: UInt64 = 0

    init() {}

    /// Waits for the end. A caller that is cancelled leaves, and the others do not notice.
    func landing() async throws -> AccessToken {
        lastNumber += 1
        let number = lastNumber
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { waiters[number] = $0 }
        } onCancel: {
            BrokerActor.start { self.leave(number) }
        }
        return try outcome.get()
    }

    /// Tells everybody how it ended.
    func land(_ outcome: Result<AccessToken, RefreshError>) {
        let waiters = waiters.values
        self.waiters = [:]
        for waiter in waiters { waiter.resume(returning: outcome.mapError { $0 }) }
    }

    private func leave(_ number: UInt64) {
        waiters.removeValue(forKey: number)?.resume(returning: .failure(CancellationError()))
    }
}
