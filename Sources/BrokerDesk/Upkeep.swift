internal import BrokerGate
internal import BrokerModel
internal import BrokerVault
internal import SDBus

/// What is done for nobody in particular: expired items are taken away when their time comes, and the log is
/// truncated soon after something was deleted.
@BrokerActor final class Upkeep {
    private let vault: Vault
    private let grant: CustodianGrant
    private let now: () -> UInt64
    private var sweepTimer: Timer?
    private var sweepTime = UInt64.max
    private var isSweeping = false
    private var checkpointTimer: Timer?

    /// Old frames are gone within five seconds of a deletion; many deletions share one checkpoint.
    private static let checkpointDelayMicroseconds: UInt64 = 2_000_000

    init(vault: Vault, grant: consuming CustodianGrant, now: @escaping () -> UInt64) {
        self.vault = vault
        self.grant = grant
        self.now = now
    }

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
        guard !isSweeping else { return }
        isSweeping = true
        BrokerActor.start { await self.sweep() }
    }

    private func sweep() async {
        defer { isSweeping = false }
        // A store that cannot be opened or written now is swept when a later call finds it well again.
        let next = try? await vault.sweep(grant)
        if vault.needsCheckpoint { checkpointSoon() }
        if let next { sweep(at: next) }
    }

    /// What wants renewing now, and when the next item will; nil where the store cannot be read.
    func renewals(for listeners: Listeners, clockWasSet: Bool) -> (notices: [Notice], next: UInt64?)? {
        try? vault.renewals(grant, for: listeners, clockWasSet: clockWasSet)
    }

    func checkpointSoon() {
        guard checkpointTimer == nil else { return }
        let due = BrokerActor.shared.loop.now(.monotonic) + Self.checkpointDelayMicroseconds
        checkpointTimer = BrokerActor.shared.loop.timer(clock: .monotonic, at: due) { [weak self] in
            BrokerActor.start { await self?.checkpoint() }
        }
    }

    private func checkpoint() async {
        checkpointTimer = nil
        await vault.checkpoint(grant)
        if vault.needsCheckpoint { checkpointSoon() }
    }
}
