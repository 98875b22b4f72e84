public import BrokerGate
public import BrokerModel
internal import BrokerPeers
internal import BrokerPolicy
public import BrokerVault
public import SDBus

/// Where every call goes, in one direction: who calls (peers), may it (gate), do it (vault), answer.
///
/// It lives on the broker's actor with everything behind it, so all reads and writes of all clients have one
/// order. A call that had to wait starts again at the gate when it goes on.
@BrokerActor public final class Desk {
    let reception: Reception
    let gate: Gate
    let vault: Vault
    let outlet: Outlet
    let subscribers = Subscribers()
    let upkeep: Upkeep
    let refresher: Refresher
    let leaseClock: LeaseClock
    let challenges: Challenges
    private(set) lazy var reminder = Reminder(
        find: { [unowned self] in
            upkeep.renewals(for: subscribers.listeners(gate, peers), clockWasSet: $0)
        }, tell: { [weak self] in self?.publish($0) })
    var inFlight: [String: Int] = [:]
    weak var secretService: SecretServiceDesk?
    private var storeWasOpen = true

    /// What the desk sends out, and what it asks the daemon to fetch.
    public struct Outlet {
        let tell: (_ notice: Notice, _ sequence: UInt64, _ subscriber: String) -> Void
        let propertiesChanged: ([String]) -> Void
        let now: () -> UInt64
        let conditions: () -> [Condition]
        let locked: (LockCause) -> Void
        let partedWays: () -> Void

        /// `tell` sends one signal; `now` is microseconds since the Unix epoch; `conditions` are those that the
        /// daemon itself knows of; `locked` hears what has locked the keychain, and `partedWays` that the login's password
        /// does not open it any more: both are for the journal.
        public init(
            tell: @escaping (Notice, UInt64, String) -> Void,
            propertiesChanged: @escaping ([String]) -> Void,
            now: @escaping () -> UInt64, conditions: @escaping () -> [Condition],
            locked: @escaping (LockCause) -> Void, partedWays: @escaping () -> Void
        ) {
            self.tell = tell
            self.propertiesChanged = propertiesChanged
            self.now = now
            self.conditions = conditions
            self.locked = locked
            self.partedWays = partedWays
        }
    }

    /// `person` asks the keychain's user; `custodian` is what the sweeper acts under; the daemon's wiring alone can make it.
    public init(
        reception: Reception, gate: Gate, vault: Vault, outlet: Outlet, leases: LeaseClock,
        person: any Person, custodian: consuming CustodianGrant
    ) {
        self.reception = reception
        self.gate = gate
        self.vault = vault
        self.outlet = outlet
        leaseClock = leases
        refresher = Refresher(vault, leases)
        challenges = Challenges(
            person,
            Challenges.Keychain(
                isPasscodeSet: { vault.isPasscodeSet },
                reuseSeconds: { gate.policy.rules(of: $0).reuseSeconds },
                now: { BrokerActor.shared.loop.now(.boottime) }))
        upkeep = Upkeep(vault: vault, grant: custodian, clock: leases)
    }

    var peers: Peers { reception.peers }

    /// The bus says that a connection has come.
    public func connectionAppeared(_ connection: String, bootTimeMicroseconds: UInt64) {
        peers.noteAppeared(connection, bootTimeMicroseconds: bootTimeMicroseconds)
    }

    /// The bus says that a connection is gone: nothing is kept of it.
    public func connectionGone(_ connection: String) {
        reception.forget(connection)
        forget(connection)
    }

    /// Keeps nothing of the connection at this desk.
    func forget(_ connection: String) {
        gate.forget(connection)
        subscribers.remove(connection)
        refresher.forget(connection)
        challenges.forget(connection)
        inFlight[connection] = nil
    }

    /// Whether it is proven who is behind the connection.
    public func isKnown(_ connection: String) -> Bool { peers.known(connection) != nil }

    /// Carries on with a proven caller.
    func withCaller<Value>(
        _ context: CallContext, _ body: @escaping (Caller) throws(Refusal) -> Outcome<Value>
    ) throws(Refusal) -> Outcome<Value> {
        try reception.withCaller(context, body)
    }

    /// Carries on with a caller that may manage this keychain.
    func managing<Value>(
        _ context: CallContext, _ what: String, _ right: Reception.Right,
        _ body: @escaping (Caller, @escaping Reception.Leave) throws(Refusal) -> Outcome<Value>
    ) throws(Refusal) -> Outcome<Value> {
        try reception.managing(context, at: gate, what, right, body)
    }

    /// Waits for work on a call's behalf, within what one connection may have waiting.
    func waiting<Value>(
        _ caller: Caller, bytes: Int, _ work: @escaping () async throws(Refusal) -> Value
    ) throws(Refusal) -> Outcome<Value> {
        let connection = caller.connection
        let cost = bytes + 1024
        guard inFlight[connection, default: 0] + cost <= Limits.inFlightBytesMax else {
            throw Refusal(
                .tooLarge, "This connection has too much waiting; read replies before sending more.")
        }
        inFlight[connection, default: 0] += cost
        return .later { () async throws(Refusal) in
            defer { self.finished(connection, cost) }
            return try await work()
        }
    }

    private func finished(_ connection: String, _ cost: Int) {
        // A connection that went meanwhile has no entry any more.
        guard let left = inFlight[connection].map({ $0 - cost }) else { return }
        inFlight[connection] = left > 0 ? left : nil
    }

    /// Sends notices to those who may hear them, in the order they happened.
    public func publish(_ notices: [Notice]) {
        for notice in notices {
            subscribers.deliver(notice, gate: gate, peers: peers, tell: outlet.tell)
            refresher.note(notice)
            secretService?.note(notice)
            if case .lockStateChanged(let state) = notice {
                if state != .unlocked { challenges.locked() }
                outlet.propertiesChanged(["State", "ProtectedDataAvailable"])
                // Keys may have come.
                reminder.remindSoon()
            }
        }
        if let time = vault.takeRenewalTime() { reminder.remind(at: time) }
    }

    /// Somebody has set the wall clock, or the machine has woken: looks for what came with it.
    public func clockWasSet() {
        guard vault.isOpen else { return }
        upkeep.sweepSoon()
        reminder.remindSoon(clockWasSet: true)
    }

    /// Begins to take away what has ceased to exist, if the store is open.
    public func startUpkeep() {
        noteStore()
        if vault.isOpen { upkeep.sweepSoon() }
    }

    // A store that was lost, or found again, is a condition that somebody may watch.
    private func noteStore() {
        guard vault.isOpen != storeWasOpen else { return }
        storeWasOpen = vault.isOpen
        if storeWasOpen { reminder.remindSoon() }
        outlet.propertiesChanged(["Conditions", "State", "ProtectedDataAvailable", "PasscodeSet"])
    }

    /// Looks for work that a call left behind: expired items, old frames of the log.
    func leaveUpkeep(expires: UInt64? = nil) {
        if vault.needsSweep { upkeep.sweepSoon() }
        if vault.needsCheckpoint { upkeep.checkpointSoon() }
        if let expires { upkeep.sweep(at: expires) }
        noteStore()
    }
}
