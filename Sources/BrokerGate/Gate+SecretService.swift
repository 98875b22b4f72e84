public import BrokerModel
public import BrokerPeers
internal import BrokerPolicy

/// Whose items a caller of `org.freedesktop.secrets` sees: those of its groups, those that all unidentified callers share,
/// or everybody's (POLICY, `[SecretService]`).
extension Gate {
    /// Leave to do the operations by that name, in one group or in all that the caller sees there. `everybody` gives the
    /// groups that there are. `MissingEntitlement`.
    public func grantForSecretService(
        _ caller: Caller, _ operations: [Operation], in group: AccessGroup? = nil,
        everybody: () throws(Refusal) -> [AccessGroup]
    ) throws(Refusal) -> Grant {
        let entitlements = entitlements(of: caller)
        guard let own = secretServiceGroups(of: caller) else {
            // Says what is lacking, and writes it down.
            return try grant(caller, operations, in: group)
        }
        // What the policy denies an application is denied here too.
        if !entitlements.groups.isEmpty { try admit(caller, operations) }
        let others = seesEverybody(entitlements) ? try everybody() : []
        let standing = secretServiceStanding(of: caller, entitlements, own, others)
        let seen = standing.entitlements.groups
        if let group, !seen.contains(group) { throw .missingGroup }
        return Grant(groups: group.map { [$0] } ?? seen, for: operations, standing)
    }

    // Worked out once for a connection, a policy and the groups that there are: each call asks.
    private func secretServiceStanding(
        of caller: Caller, _ entitlements: Entitlements, _ own: [AccessGroup], _ others: [AccessGroup]
    ) -> Standing {
        if let known = secretService[caller.connection], known.others == others { return known.standing }
        var all = entitlements
        all.groups = own
        for other in others where !all.groups.contains(other) { all.groups.append(other) }
        let standing = Standing(all, under: policy, witness: Witness(of: caller, entitlements, audit))
        secretService[caller.connection] = (others, standing)
        return standing
    }

    /// Where the caller's items go; nil for one that has no place.
    public func secretServiceTarget(of caller: Caller) -> AccessGroup? {
        secretServiceGroups(of: caller)?.first
    }

    /// Whether the caller sees the group's items there.
    public func seesInSecretService(_ group: AccessGroup, _ caller: Caller) -> Bool {
        guard let own = secretServiceGroups(of: caller) else { return false }
        return own.contains(group) || seesEverybody(entitlements(of: caller))
    }

    /// The one group of all callers of whom nothing but the user is known.
    public static let unidentified = AccessGroup("unidentified")!

    private func secretServiceGroups(of caller: Caller) -> [AccessGroup]? {
        let entitlements = entitlements(of: caller)
        if !entitlements.groups.isEmpty { return entitlements.groups }
        // Its evidence must have been read: what could not be looked at may be in a sandbox.
        let isShared =
            policy.secretService.unidentified == .share && caller.facts.userID == userID
            && !entitlements.isSandboxed && caller.facts.inReferenceNamespaces == true
            && caller.facts.executable != nil
        return isShared ? [Self.unidentified] : nil
    }

    private func seesEverybody(_ entitlements: Entitlements) -> Bool {
        if entitlements.isSandboxed { return false }
        let rules = policy.secretService
        return rules.isolation == .none || entitlements.application.map(rules.managers.contains) ?? false
    }
}
