public import BrokerModel
public import BrokerPeers
public import BrokerPolicy

/// The one door to the items: asks the policy about a proven caller, writes the audit line, hands out a
/// grant.
///
/// Entitlements are worked out once for a connection and a policy. A new policy is asked anew from the next
/// call on.
public final class Gate {
    /// The policy in force.
    public private(set) var policy: Policy
    /// Whose keychain it is before; nil where it is before none.
    public let userID: UInt32?
    private let administrators: Administrators
    let audit: any AuditSink
    private var cache: [String: Standing] = [:]
    var secretService: [String: (others: [AccessGroup], standing: Standing)] = [:]
    // Each call asks several times.
    private var last: (connection: String, standing: Standing)?

    /// Who is an administrator (INTERFACE, Manager).
    public enum Administrators: Sendable {
        /// Programs that the policy lists in `[Manager]`: with `--user`.
        case programs
        /// Root, and whoever the machine's authority allows: with `--system`.
        case machine
    }

    /// A gate under a policy, before the keychain of one user: nobody else has anything there, root included,
    /// whatever the policy says of the program. Without a user it is before none, for what is about the whole
    /// broker.
    public init(
        policy: Policy, userID: UInt32?, administrators: Administrators = .programs, audit: any AuditSink
    ) {
        self.policy = policy
        self.userID = userID
        self.administrators = administrators
        self.audit = audit
    }

    /// Puts a policy in the place of the one before, whole.
    public func replace(by policy: Policy) {
        self.policy = policy
        cache.removeAll()
        secretService.removeAll()
        last = nil
    }

    /// The connection is gone.
    public func forget(_ connection: String) {
        cache[connection] = nil
        secretService[connection] = nil
        last = nil
    }

    /// What the policy gives the caller.
    public func entitlements(of caller: Caller) -> Entitlements { standing(of: caller).entitlements }

    private func standing(of caller: Caller) -> Standing {
        if let last, last.connection == caller.connection { return last.standing }
        let standing = cache[caller.connection] ?? workOut(caller)
        last = (caller.connection, standing)
        return standing
    }

    private func workOut(_ caller: Caller) -> Standing {
        let entitlements = isOwner(caller) ? policy.entitlements(of: caller.facts) : .none
        let witness = Witness(of: caller, entitlements, audit)
        let standing = Standing(entitlements, under: policy, witness: witness)
        cache[caller.connection] = standing
        return standing
    }

    /// Refuses a caller that has no group at all, or lacks an operation, before its request is looked at
    /// (SEMANTICS 3.0). The group is the one that the request names, as far as it can be seen; it is asked for
    /// only where the caller would be refused. `MissingEntitlement`.
    public func admit(
        _ caller: Caller, _ operations: [Operation], naming group: @autoclosure () -> AccessGroup? = nil
    ) throws(Refusal) {
        let standing = standing(of: caller)
        guard case .deny = standing.verdict(on: operations, in: nil) else { return }
        let group = group()
        if case .deny(let objection) = standing.verdict(on: operations, in: group) {
            throw standing.deny(operations, group, objection)
        }
    }

    /// What the caller is called beyond its connection: the policy's application, or else its sandbox's id or its path.
    public func applicationName(of caller: Caller) -> String {
        entitlements(of: caller).application ?? caller.facts.shownProgram ?? ""
    }

    /// Leave to do the operations in one group, or in all of the caller's. `MissingEntitlement`.
    ///
    /// A call that waited asks `again` when it goes on: what the policy would deny, and observe mode lets through,
    /// is then written down already.
    public func grant(
        _ caller: Caller, _ operations: [Operation], in group: AccessGroup?, again: Bool = false
    ) throws(Refusal) -> Grant {
        let standing = standing(of: caller)
        switch standing.verdict(on: operations, in: group) {
        case .allow(let groups): return Grant(groups: groups, for: operations, standing)
        case .observe(let groups, let objection):
            if !again { standing.witness?.record(operations, group, .observe, objection) }
            return Grant(groups: groups, for: operations, standing)
        case .deny(let objection): throw standing.deny(operations, group, objection)
        }
    }

    /// Leave to add to a group: the named one, or the caller's first.
    public func grantForAdding(
        _ caller: Caller, _ operations: [Operation], to group: AccessGroup?, again: Bool = false
    ) throws(Refusal) -> Grant {
        try grant(caller, operations, in: target(group, of: caller), again: again)
    }

    /// Where an item goes: to the named group, or to the caller's first. Nil for a caller that has none.
    public func target(_ group: AccessGroup?, of caller: Caller) -> AccessGroup? {
        group ?? entitlements(of: caller).groups.first
    }

    /// Where the caller may be told of what happens.
    public func audible(to caller: Caller) -> Set<AccessGroup> {
        standing(of: caller).groups(for: .subscribe)
    }

    /// Whether the caller may be told of what happens in the group.
    public func isAudible(_ group: AccessGroup, to caller: Caller) -> Bool {
        standing(of: caller).reaches(group, for: .subscribe)
    }

    /// Whether the authority has a say on this caller: not on root, and not on whom it could not make an
    /// administrator. For a call of the user's own it throws where the caller is not the user. `AccessDenied`.
    public func asksAuthority(
        about caller: Caller, _ what: String, _ isUsers: Bool
    ) throws(Refusal) -> Bool {
        guard administrators == .machine, caller.facts.userID != 0 else { return false }
        if isUsers {
            _ = try manageAsUser(caller, what)
            return true
        }
        return isMachinesAdministrator(caller, .allowed)
    }

    /// Leave for the user's own manager calls: an unsandboxed caller, unless the authority has denied it.
    /// `AccessDenied`.
    public func manageAsUser(
        _ caller: Caller, _ what: String, _ authorization: Authorization = .allowed
    ) throws(Refusal) -> ManagerGrant {
        let entitlements = entitlements(of: caller)
        guard isOwner(caller), !entitlements.isSandboxed, caller.facts.inReferenceNamespaces == true,
            authorization != .denied
        else {
            throw denyManager(caller, what)
        }
        return ManagerGrant(.user)
    }

    /// Leave for an administrator's calls. `AccessDenied`.
    public func manageAsAdministrator(
        _ caller: Caller, _ what: String, _ authorization: Authorization = .denied
    ) throws(Refusal) -> ManagerGrant {
        let isAllowed =
            switch administrators {
            case .programs: entitlements(of: caller).isManager
            case .machine: isMachinesAdministrator(caller, authorization)
            }
        guard isAllowed else { throw denyManager(caller, what) }
        return ManagerGrant(.administrator)
    }

    /// Leave for what is asked where somebody logs in: root alone, whoever's keychain it is. `AccessDenied`.
    public func manageAsRoot(_ caller: Caller, _ what: String) throws(Refusal) -> ManagerGrant {
        guard caller.facts.userID == 0, caller.facts.flatpak == nil, caller.facts.snap == nil else {
            throw denyManager(caller, what)
        }
        return ManagerGrant(.root)
    }

    // Root is root in whatever namespace; of all others it must be shown that they are in no sandbox.
    private func isMachinesAdministrator(_ caller: Caller, _ authorization: Authorization) -> Bool {
        guard caller.facts.flatpak == nil, caller.facts.snap == nil else { return false }
        if caller.facts.userID == 0 { return true }
        return authorization == .allowed && caller.facts.inReferenceNamespaces == true
    }

    /// An administrator's leave over one group's items, which it does not thereby see.
    public func administer(
        _ grant: borrowing ManagerGrant, _ group: AccessGroup, reaching other: AccessGroup? = nil
    ) -> Grant {
        let reachable = other.map { [group, $0] } ?? [group]
        let standing = Standing(Entitlements(groups: reachable), under: policy, witness: nil)
        return Grant(groups: [group], for: [], standing)
    }

    /// Writes that a secret was handed out.
    public func recordRead(_ caller: Caller, _ operation: Operation, _ group: AccessGroup?) {
        standing(of: caller).witness?.record(operation.rawValue, group, .allow, nil)
    }

    private func isOwner(_ caller: Caller) -> Bool { caller.facts.userID == userID }

    private func denyManager(_ caller: Caller, _ what: String) -> Refusal {
        standing(of: caller).witness?.record(what, nil, .deny, .manager)
        guard administrators == .machine else { return Objection.manager.refusal }
        return Refusal(
            .accessDenied,
            "This call is for the user's own programs, or for an administrator: root, or whoever polkit allows."
        )
    }
}
