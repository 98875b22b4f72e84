internal import BrokerGate
public import BrokerModel
internal import BrokerPeers
internal import BrokerPolicy
internal import SDBus

extension Desk {
    /// `ReloadPolicy`.
    public func reloadPolicy(_ context: CallContext) throws(Refusal) -> Outcome<[String]> {
        try managing(context, "reload-policy", .administrator) { (_, leave) throws(Refusal) in
            _ = try leave()
            return .later { () async throws(Refusal) in try await self.reloadPolicy() }
        }
    }

    /// Takes the policy's files anew, whole or not at all. Returns the warnings; `PolicyInvalid`.
    @discardableResult
    public func reloadPolicy() async throws(Refusal) -> [String] {
        let policies = reception.policies
        let wasRefused = policies.isRefused
        defer { if policies.isRefused != wasRefused { outlet.propertiesChanged(["Conditions"]) } }
        return try await policies.reload { self.adopt($0) }
    }

    /// Judges by this policy from now on; subscriptions that hang on what it took away end.
    func adopt(_ policy: Policy) {
        gate.replace(by: policy)
        challenges.policyChanged()
        subscribers.narrow { connection in
            guard let caller = self.peers.known(connection) else { return [] }
            return self.gate.audible(to: caller)
        }
        reminder.remindSoon()
    }

    /// `ListClients`.
    public func listClients(_ context: CallContext) throws(Refusal) -> Outcome<[ClientRecord]> {
        try managing(context, "list-clients", .administrator) { (_, leave) throws(Refusal) in
            _ = try leave()
            let callers = self.peers.callers.sorted { $0.connection < $1.connection }
            return .now(callers.map { self.record(of: $0) })
        }
    }

    /// A client as an administrator sees it.
    func record(of caller: Caller) -> ClientRecord {
        ClientRecord(
            connection: caller.connection, processID: caller.facts.processID ?? 0,
            entitlements: gate.entitlements(of: caller),
            subscribed: subscribers.groups(of: caller.connection),
            pendingLogouts: subscribers.pendingLogouts(of: caller.connection))
    }

    /// `Explain`.
    public func explain(
        _ context: CallContext, target: String, group name: String
    ) throws(Refusal) -> Outcome<ExplainRecord> {
        try managing(context, "explain", .administrator) { (_, leave) throws(Refusal) in
            _ = try leave()
            let group = try Reception.explainable(target, name)
            return .later { () async throws(Refusal) in try await self.reception.explain(target, group) }
        }
    }
}
