internal import BrokerGate
public import BrokerModel
internal import BrokerPeers
internal import BrokerPolicy
internal import SDBus

/// What concerns the whole broker.
extension Desks {
    /// The manager's properties, of the asking user's keychain or, for root, of the one that the object names. A user
    /// without a keychain hears what a new one would say, and none is made.
    public func status(_ context: CallContext?) throws(Refusal) -> ManagerStatus {
        guard let context, let askerID = userID(of: context.connection) else {
            throw Refusal(.identityUnavailable, "The bus does not say who is asking.")
        }
        guard context.namedUserID == nil || askerID == 0 else { throw .foreignKeychain }
        watchers.note(context.connection, of: askerID, named: context.namedUserID)
        do throws(Refusal) {
            if let desk = try existingDesk(of: context.namedUserID ?? askerID) { return desk.status }
        } catch {
            return ManagerStatus(
                state: .beforeFirstUnlock, isPasscodeSet: false,
                conditions: brokersConditions + [.waitingForStore])
        }
        return ManagerStatus(state: .unlocked, isPasscodeSet: false, conditions: brokersConditions)
    }

    private func userID(of connection: String) -> UInt32? {
        reception.peers.known(connection)?.facts.userID ?? watchers.userID(of: connection)
            ?? source.userID(connection)
    }

    private var brokersConditions: [Condition] {
        conditions() + (reception.policies.isRefused ? [.policyRefused] : [])
    }

    /// A keychain's properties have changed; all keychains' where no user is given. Whoever has read them is told,
    /// and every program of the user that has called.
    public func propertiesChanged(_ names: [String], of userID: UInt32?) {
        var told: Set<String> = []
        watchers.each(of: userID) { connection, namedUserID in
            if namedUserID == nil { told.insert(connection) }
            source.propertiesChanged(names, connection, namedUserID)
        }
        for caller in reception.peers.callers where userID == nil || caller.facts.userID == userID {
            guard told.insert(caller.connection).inserted else { continue }
            source.propertiesChanged(names, caller.connection, nil)
        }
    }

    /// Somebody has set the wall clock, or the machine has woken.
    public func clockWasSet() {
        for desk in desks.values { desk.clockWasSet() }
    }

    /// `ReloadPolicy`.
    public func reloadPolicy(_ context: CallContext) throws(Refusal) -> Outcome<[String]> {
        try administering(context, "reload-policy") {
            .later { () async throws(Refusal) in try await self.reloadPolicy() }
        }
    }

    /// Takes the policy's files anew, once and for every gate. Returns the warnings; `PolicyInvalid`.
    @discardableResult
    public func reloadPolicy() async throws(Refusal) -> [String] {
        let policies = reception.policies
        let wasRefused = policies.isRefused
        defer {
            if policies.isRefused != wasRefused {
                propertiesChanged(["Conditions"], of: nil)
            }
        }
        return try await policies.reload { policy in
            self.gate.replace(by: policy)
            for desk in self.desks.values { desk.adopt(policy) }
        }
    }

    /// `ListClients`: of the whole broker, or of the user that the object names.
    public func listClients(_ context: CallContext) throws(Refusal) -> Outcome<[ClientRecord]> {
        try administering(context, "list-clients") {
            let callers = self.reception.peers.callers.filter {
                context.namedUserID == nil || $0.facts.userID == context.namedUserID
            }
            return .now(callers.sorted { $0.connection < $1.connection }.map { self.record(of: $0) })
        }
    }

    // Who has no desk has nothing at any.
    private func record(of caller: Caller) -> ClientRecord {
        if let desk = desks[caller.facts.userID] { return desk.record(of: caller) }
        return ClientRecord(
            connection: caller.connection, processID: caller.facts.processID ?? 0,
            entitlements: gate.entitlements(of: caller), subscribed: [], pendingLogouts: 0)
    }

    /// `Explain`.
    public func explain(
        _ context: CallContext, target: String, group name: String
    ) throws(Refusal) -> Outcome<ExplainRecord> {
        try administering(context, "explain") { () throws(Refusal) in
            let group = try Reception.explainable(target, name)
            return .later { () async throws(Refusal) in try await self.reception.explain(target, group) }
        }
    }

    private func administering<Value>(
        _ context: CallContext, _ what: String, _ body: @escaping () throws(Refusal) -> Outcome<Value>
    ) throws(Refusal) -> Outcome<Value> {
        try reception.managing(context, at: gate, what, .administrator) { (_, leave) throws(Refusal) in
            _ = try leave()
            return try body()
        }
    }
}
