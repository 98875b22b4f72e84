internal import SDBus

/// Tries something until the keychain is not locked any more, or time is up.
///
/// It subscribes before it tries again, and tries again with each event of the lock: an unlock that comes between a try
/// and the next event has its event still to come.
@BrokerActor struct UnlockWait {
    private let vault: CredentialVault
    private let deadline: UInt64

    init(_ vault: CredentialVault, _ limit: Duration) {
        self.vault = vault
        deadline = BrokerActor.shared.loop.now().adding(limit.microseconds)
    }

    func run<Value: Sendable>(
        _ body: @escaping @BrokerActor (CredentialVault) async throws(VaultError) -> Value
    ) async throws(VaultError) -> Value {
        let first: VaultError
        do throws(VaultError) {
            return try await body(vault)
        } catch {
            guard error.isLocked else { throw error }
            first = error
        }
        let vault = vault
        let waiter = BrokerActor.start { await Self.wait(vault, first, body) }
        let alarm = BrokerActor.shared.loop.timer(at: deadline) { waiter.cancel() }
        let result = await withTaskCancellationHandler {
            await waiter.value
        } onCancel: {
            waiter.cancel()
        }
        alarm.cancel()
        if Task.isCancelled, case .failure = result { throw VaultError(ChatelaineError(.cancelled)) }
        return try result.get()
    }

    private static func wait<Value: Sendable>(
        _ vault: CredentialVault, _ first: VaultError,
        _ body: @escaping @BrokerActor (CredentialVault) async throws(VaultError) -> Value
    ) async -> Result<Value, VaultError> {
        let feed = EventFeed(vault.link.endpoint, [vault.group], handled: [:])
        var last = first
        do throws(VaultError) {
            while let event = try await feed.next() {
                switch event {
                case .subscribed, .lockState: break
                case .loggedOut, .changed, .refreshNeeded, .gap, .interrupted: continue
                }
                do throws(VaultError) {
                    return .success(try await body(vault))
                } catch .cancelled {
                    break
                } catch {
                    guard error.isWorthWaiting else { return .failure(error) }
                    last = error
                }
            }
            return .failure(last)
        } catch {
            return .failure(error)
        }
    }
}

extension VaultError {
    /// A lock, or a broker that is just being started anew. Any other refusal no unlock takes back, and no event tells that
    /// it is over.
    fileprivate var isWorthWaiting: Bool {
        switch self {
        case .locked, .beforeFirstUnlock, .brokerMissing, .interrupted: true
        default: false
        }
    }
}
