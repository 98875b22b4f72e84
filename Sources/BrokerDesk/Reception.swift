internal import BrokerGate
public import BrokerModel
public import BrokerPeers
internal import BrokerPolicy
public import SDBus

/// Where a call comes in, whoever's keychain it is about: who calls, and whether they may manage.
@BrokerActor public final class Reception {
    let peers: Peers
    let policies: PolicyKeeper
    private let authority: (any Authority)?

    /// The same for all desks. The authority is asked with `--system` alone; without one there is none on this
    /// machine.
    public init(peers: Peers, policies: PolicyKeeper, authority: (any Authority)?) {
        self.peers = peers
        self.policies = policies
        self.authority = authority
    }

    /// Leave for a manager's call, judged in the moment that it is asked for.
    typealias Leave = () throws(Refusal) -> ManagerGrant

    /// Whose a manager's call is (INTERFACE, Manager).
    enum Right {
        /// The keychain's user; an authority may have the last word, where the action has a name.
        case user(action: String?)
        case administrator
        /// The keychain's user, or root on that user's behalf; on a user's own object an administrator too.
        case login
        /// Root alone.
        case root

        var action: String? {
            switch self {
            case .user(let action): action
            case .administrator: AuthorityAction.manage
            case .login, .root: nil
            }
        }
    }

    /// Carries on with a proven caller: at once for a connection that is known, else after it was identified.
    func withCaller<Value>(
        _ context: CallContext, _ body: @escaping (Caller) throws(Refusal) -> Outcome<Value>
    ) throws(Refusal) -> Outcome<Value> {
        if let caller = peers.known(context.connection) { return try body(caller) }
        return .later { () async throws(Refusal) in
            try await body(try await self.caller(context.connection)).value()
        }
    }

    func caller(_ connection: String) async throws(Refusal) -> Caller {
        try await peers.identify(connection, policyExecutables: policies.policy.executables)
    }

    /// The connection is gone.
    func forget(_ connection: String) {
        peers.forget(connection)
        authority?.connectionGone(connection)
    }

    /// Carries on with a caller that may manage. A person may have to say so first; what waits after that asks
    /// for its leave anew.
    func managing<Value>(
        _ context: CallContext, at gate: Gate, _ what: String, _ right: Right,
        _ body: @escaping (Caller, @escaping Leave) throws(Refusal) -> Outcome<Value>
    ) throws(Refusal) -> Outcome<Value> {
        try withCaller(context) { (caller) throws(Refusal) in
            let right = right.settled(for: caller, at: gate, named: context.namedUserID != nil)
            guard let action = right.action, try gate.asksAuthority(about: caller, what, right.isUsers) else {
                return try body(caller, Self.leave(gate, caller, what, right, nil))
            }
            return .later { () async throws(Refusal) in
                let authorization = await self.authorization(of: caller, action, context)
                return try await body(caller, Self.leave(gate, caller, what, right, authorization)).value()
            }
        }
    }

    private func authorization(
        of caller: Caller, _ action: String, _ context: CallContext
    ) async -> Authorization {
        guard let authority else { return .unreachable }
        return await authority.allows(
            caller.connection, facts: caller.facts, action: action,
            allowsInteraction: context.allowsInteraction)
    }

    private static func leave(
        _ gate: Gate, _ caller: Caller, _ what: String, _ right: Right, _ authorization: Authorization?
    ) -> Leave {
        switch right {
        case .user:
            { () throws(Refusal) in try gate.manageAsUser(caller, what, authorization ?? .allowed) }
        case .administrator:
            { () throws(Refusal) in try gate.manageAsAdministrator(caller, what, authorization ?? .denied) }
        case .login, .root: { () throws(Refusal) in try gate.manageAsRoot(caller, what) }
        }
    }

    /// `Explain`: of a connection, or of `pid:N`, which is looked at as if it had just connected.
    func explain(_ target: String, _ group: AccessGroup) async throws(Refusal) -> ExplainRecord {
        let explanation = policies.policy.explain(try await facts(of: target), group: group)
        return ExplainRecord(
            application: explanation.application ?? "", trust: explanation.trust,
            isAllowed: explanation.decision == .allow, reasons: explanation.reasons,
            policy: explanation.policy ?? "")
    }

    /// What `Explain` can be asked of.
    static func explainable(_ target: String, _ name: String) throws(Refusal) -> AccessGroup {
        guard let group = AccessGroup(name) else {
            throw .param("A group has 1 to 255 printable ASCII characters without white space.")
        }
        guard [":", "direct:", "pid:"].contains(where: target.hasPrefix) else {
            throw .param("Explain takes a connection's name, or pid: and a process id.")
        }
        return group
    }

    private func facts(of target: String) async throws(Refusal) -> PeerFacts {
        if let known = peers.known(target) { return known.facts }
        guard target.hasPrefix("pid:") else { return try await caller(target).facts }
        // A look at a process is no connection, and nobody will say that it is gone.
        peers.noteAppeared(target, bootTimeMicroseconds: BrokerActor.shared.loop.now(.boottime))
        defer { peers.forget(target) }
        return try await peers.identify(
            target, policyExecutables: policies.policy.executables, takesPlace: false
        ).facts
    }
}

extension Reception.Right {
    fileprivate var isUsers: Bool {
        if case .user = self { true } else { false }
    }

    /// Whose call it is, now that it is known who calls. On a user's own object nobody but an administrator has anything
    /// to do.
    fileprivate func settled(for caller: Caller, at gate: Gate, named: Bool) -> Self {
        switch self {
        case .root: .root
        case .login where caller.facts.userID == 0 && gate.userID != 0: .root
        case .login where !named: .user(action: nil)
        case .user, .administrator, .login: named ? .administrator : self
        }
    }
}
