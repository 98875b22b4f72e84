internal import BrokerGate
internal import BrokerModel
internal import BrokerVault
internal import SDBus

/// What is done for nobody in particular: expired items are taken away when their time comes, and the log is
/// truncated soon after something was deleted.
@BrokerActor final class Upkeep {
    private let vault: Vault
    private let grant: CustodianGrant
    private let clock: LeaseClock
    private var restsUntil: UInt64 = 0
    private var sweepTimer: Timer?
    private var sweepTime = UInt64.max
    private var isSweeping = false
    private var checkpointTimer: AnyObject?

    /// Old frames are gone within five seconds of a deletion; many deletions share one checkpoint.
    private static let checkpointDelayMicroseconds: UInt64 = 2_000_000
    /// A disk that takes no change is not asked again at every call.
    private static let restMicroseconds: UInt64 = 1_000_000

    init(vault: Vault, grant: consuming CustodianGrant, clock: LeaseClock) {
        self.vault = vault
        self.grant = grant
        self.clock = clock
    }

    /// Locks for nobody's call. Returns whether there was anything to lock.
    func lock() -> Bool { vault.lock(grant) }

    /// Opens what may be opened with the session.
    func unlock(since locks: Int) async { await vault.unlockWithSession(grant, since: locks) }

    /// Sweeps when that moment comes by the wall clock, or when the clock is set past it.
    func sweep(at time: UInt64) {
        guard time < sweepTime else { return }
        sweepTime = time
        sweepTimer = BrokerActor.shared.loop.timer(clock: .realtime, at: time) { [weak self] in
            self?.sweepTime = .max
            self?.sweepSoon()
        }
    }

    func sweepSoon() {
        guard !isSweeping, clock.now() >= restsUntil else { return }
        isSweeping = true
        BrokerActor.start { await self.sweep() }
    }

    private func sweep() async {
        defer { isSweeping = false }
        do throws(Refusal) {
            if let next = try await vault.sweep(grant) { sweep(at: next) }
        } catch {
            // A store that cannot be opened or written now is swept when a later call finds it well again.
            restsUntil = clock.now() + Self.restMicroseconds
        }
        if vault.needsCheckpoint { checkpointSoon() }
    }

    /// What wants renewing now, and when the next item will; nil where the store cannot be read.
    func renewals(for listeners: Listeners, clockWasSet: Bool) -> (notices: [Notice], next: UInt64?)? {
        try? vault.renewals(grant, for: listeners, clockWasSet: clockWasSet)
    }

    func checkpointSoon() {
        guard checkpointTimer == nil else { return }
        checkpointTimer = clock.timer(clock.now() + Self.checkpointDelayMicroseconds) { [weak self] in
            BrokerActor.start { await self?.checkpoint() }
        }
    }

    private func checkpoint() async {
        checkpointTimer = nil
        await vault.checkpoint(grant)
        if vault.needsCheckpoint { checkpointSoon() }
    }
}
