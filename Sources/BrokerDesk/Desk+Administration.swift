internal import BrokerGate
public import BrokerModel
internal import BrokerPeers
internal import BrokerPolicy
internal import SDBus

extension Desk {
    /// `ReloadPolicy`.
    public func reloadPolicy(_ context: CallContext) throws(Refusal) -> Outcome<[String]> {
        try withCaller(context) { (caller) throws(Refusal) in
            _ = try self.gate.manageAsAdministrator(caller, "reload-policy")
            return .later { () async throws(Refusal) in try await self.reloadPolicy() }
        }
    }

    /// Takes the policy's files anew, whole or not at all. Returns the warnings; `PolicyInvalid`.
    @discardableResult
    public func reloadPolicy() async throws(Refusal) -> [String] {
        let wasRefused = policyIsRefused
        defer { if policyIsRefused != wasRefused { outlet.propertiesChanged(["Conditions"]) } }
        do throws(PolicyErrors) {
            let loaded = try await outlet.loadPolicy()
            gate.replace(by: loaded.policy)
            subscribers.narrow { connection in
                guard let caller = self.peers.known(connection) else { return [] }
                return self.gate.audible(to: caller)
            }
            policyIsRefused = false
            return loaded.warnings
        } catch {
            policyIsRefused = true
            throw .policyInvalid(lines: error.lines)
        }
    }

    /// `ListClients`.
    public func listClients(_ context: CallContext) throws(Refusal) -> Outcome<[ClientRecord]> {
        try withCaller(context) { (caller) throws(Refusal) in
            _ = try self.gate.manageAsAdministrator(caller, "list-clients")
            let callers = self.peers.callers.sorted { $0.connection < $1.connection }
            return .now(callers.map { self.record(of: $0) })
        }
    }

    private func record(of caller: Caller) -> ClientRecord {
        let entitlements = gate.entitlements(of: caller)
        return ClientRecord(
            connection: caller.connection, processID: caller.facts.processID ?? 0,
            entitlements: entitlements, subscribed: subscribers.groups(of: caller.connection),
            pendingLogouts: subscribers.pendingLogouts(of: caller.connection))
    }

    /// `Explain`: of a connection, or of `pid:N`, which is looked at as if it had just connected.
    public func explain(
        _ context: CallContext, target: String, group name: String
    ) throws(Refusal) -> Outcome<ExplainRecord> {
        try withCaller(context) { (caller) throws(Refusal) in
            _ = try self.gate.manageAsAdministrator(caller, "explain")
            guard let group = AccessGroup(name) else {
                throw .param("A group has 1 to 255 printable ASCII characters without white space.")
            }
            guard [":", "direct:", "pid:"].contains(where: target.hasPrefix) else {
                throw .param("Explain takes a connection's name, or pid: and a process id.")
            }
            return .later { () async throws(Refusal) in
                let facts = try await self.facts(of: target)
                let explanation = self.gate.policy.explain(facts, group: group)
                return ExplainRecord(
                    application: explanation.application ?? "", trust: explanation.trust,
                    isAllowed: explanation.decision == .allow, reasons: explanation.reasons,
                    policy: explanation.policy ?? "")
            }
        }
    }

    private func facts(of target: String) async throws(Refusal) -> PeerFacts {
        if let known = peers.known(target) { return known.facts }
        if target.hasPrefix("pid:") {
            peers.noteAppeared(target, bootTimeMicroseconds: BrokerActor.shared.loop.now(.boottime))
        }
        // A look at a process is no connection, and nobody will say that it is gone.
        defer { if target.hasPrefix("pid:") { peers.forget(target) } }
        return try await peers.identify(
            target, policyExecutables: gate.policy.executables, takesPlace: !target.hasPrefix("pid:")
        ).facts
    }
}
