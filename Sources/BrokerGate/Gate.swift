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
    private let userID: UInt32
    private let audit: any AuditSink
    private var cache: [String: Standing] = [:]

    /// A gate under a policy, before the keychain of one user: nobody else has anything there, root included,
    /// whatever the policy says of the program.
    public init(policy: Policy, userID: UInt32, audit: any AuditSink) {
        self.policy = policy
        self.userID = userID
        self.audit = audit
    }

    /// Puts a policy in the place of the one before, whole.
    public func replace(by policy: Policy) {
        self.policy = policy
        cache.removeAll()
    }

    /// The connection is gone.
    public func forget(_ connection: String) { cache[connection] = nil }

    /// What the policy gives the caller.
    public func entitlements(of caller: Caller) -> Entitlements { standing(of: caller).entitlements }

    private func standing(of caller: Caller) -> Standing {
        if let known = cache[caller.connection] { return known }
        let entitlements = isOwner(caller) ? policy.entitlements(of: caller.facts) : .none
        let standing = Standing(entitlements, under: policy)
        cache[caller.connection] = standing
        return standing
    }

    /// Refuses a caller that has no group at all, or lacks an operation, before its request is looked at
    /// (SEMANTICS 3.0). `MissingEntitlement`.
    public func admit(_ caller: Caller, _ operations: [Operation]) throws(Refusal) {
        let standing = standing(of: caller)
        if let objection = standing.objection(to: operations) {
            throw deny(caller, standing.entitlements, operations, nil, objection)
        }
    }

    /// Leave to do the operations in one group, or in all of the caller's. `MissingEntitlement`.
    public func grant(
        _ caller: Caller, _ operations: [Operation], in group: AccessGroup?
    ) throws(Refusal) -> Grant {
        let standing = standing(of: caller)
        if let objection = standing.objection(to: operations) {
            throw deny(caller, standing.entitlements, operations, group, objection)
        }
        guard let group else { return Grant(groups: standing.entitlements.groups, standing) }
        guard standing.entitlements.groups.contains(group) else {
            throw deny(caller, standing.entitlements, operations, group, .missingGroup)
        }
        return Grant(groups: [group], standing)
    }

    /// Leave to add to a group: the named one, or the caller's first.
    public func grantForAdding(
        _ caller: Caller, _ operations: [Operation], to group: AccessGroup?
    ) throws(Refusal) -> Grant {
        try admit(caller, operations)
        return try grant(caller, operations, in: group ?? entitlements(of: caller).groups[0])
    }

    /// Leave for the user's own manager calls: an unsandboxed caller. `AccessDenied`.
    public func manageAsUser(_ caller: Caller, _ what: String) throws(Refusal) -> ManagerGrant {
        let entitlements = entitlements(of: caller)
        guard isOwner(caller), !entitlements.isSandboxed, caller.facts.inReferenceNamespaces == true else {
            throw denyManager(caller, entitlements, what)
        }
        return ManagerGrant()
    }

    /// Leave for an administrator's calls: a program that `[Manager]` lists. `AccessDenied`.
    public func manageAsAdministrator(_ caller: Caller, _ what: String) throws(Refusal) -> ManagerGrant {
        let entitlements = entitlements(of: caller)
        guard entitlements.isManager else { throw denyManager(caller, entitlements, what) }
        return ManagerGrant()
    }

    /// An administrator's leave over one group's items, which it does not thereby see.
    public func administer(
        _ grant: borrowing ManagerGrant, _ group: AccessGroup, reaching other: AccessGroup? = nil
    ) -> Grant {
        let reachable = other.map { [group, $0] } ?? [group]
        return Grant(groups: [group], Standing(Entitlements(groups: reachable), under: policy))
    }

    /// Writes that a secret was handed out.
    public func recordRead(_ caller: Caller, _ operation: Operation, _ group: AccessGroup?) {
        let entitlements = entitlements(of: caller)
        record(caller, entitlements, operation.rawValue, group, isAllowed: true)
    }

    private func isOwner(_ caller: Caller) -> Bool { caller.facts.userID == userID }

    private func deny(
        _ caller: Caller, _ entitlements: Entitlements, _ operations: [Operation], _ group: AccessGroup?,
        _ refusal: Refusal
    ) -> Refusal {
        let names = operations.map(\.rawValue).joined(separator: "+")
        record(caller, entitlements, names, group, isAllowed: false)
        return refusal
    }

    private func denyManager(_ caller: Caller, _ entitlements: Entitlements, _ what: String) -> Refusal {
        record(caller, entitlements, what, nil, isAllowed: false)
        return Refusal(
            .accessDenied,
            "This call is for the user's own programs or an administrator's; [Manager] in the policy lists those."
        )
    }

    private func record(
        _ caller: Caller, _ entitlements: Entitlements, _ operation: String, _ group: AccessGroup?,
        isAllowed: Bool
    ) {
        audit.record(
            AuditEntry(
                operation: operation, application: entitlements.application, group: group,
                isAllowed: isAllowed, trust: entitlements.trust, connection: caller.connection,
                processID: caller.facts.processID))
    }
}

extension Refusal {
    static let noGroup = Refusal(
        .missingEntitlement,
        "The policy gives this program no access group; an [Application] section with its path gives it one.")
}
