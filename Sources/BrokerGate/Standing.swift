internal import BrokerModel
internal import BrokerPolicy

/// What a policy gives a caller, worked out once and shared by the grants of its calls.
final class Standing: Sendable {
    let entitlements: Entitlements
    let rules: [AccessGroup: GroupRules]
    let foregroundSecrets: ForegroundSecrets
    /// Nil where nothing is written down: an administrator's leave is not a caller's.
    let witness: Witness?
    private let operations: UInt16

    /// What the policy says to a call.
    enum Verdict {
        case allow(groups: [AccessGroup])
        /// The policy denies it; what is let through is let into these groups.
        case observe(groups: [AccessGroup], Objection)
        case deny(Objection)
    }

    init(
        entitlements: Entitlements, rules: [AccessGroup: GroupRules], foregroundSecrets: ForegroundSecrets,
        witness: Witness? = nil
    ) {
        self.entitlements = entitlements
        self.rules = rules
        self.foregroundSecrets = foregroundSecrets
        self.witness = witness
        operations = entitlements.operations.reduce(0) { $0 | $1.bit }
    }

    convenience init(_ entitlements: Entitlements, under policy: Policy, witness: Witness?) {
        var rules: [AccessGroup: GroupRules] = [:]
        for group in entitlements.groups { rules[group] = policy.rules(of: group) }
        for group in entitlements.observed { rules[group] = policy.rules(of: group) }
        self.init(
            entitlements: entitlements, rules: rules, foregroundSecrets: policy.foregroundSecrets,
            witness: witness)
    }

    /// Judges operations in one group, or in all of the caller's.
    ///
    /// Observe mode is for the group that is named. A call that names none is let through into those of the
    /// caller's own groups that are in it, and never into a group that is not the caller's: what a program
    /// finds without naming a group does not depend on the mode of others' groups.
    func verdict(on operations: [Operation], in group: AccessGroup?) -> Verdict {
        guard let objection = objection(to: operations, in: group) else {
            return .allow(groups: group.map { [$0] } ?? entitlements.groups)
        }
        if entitlements.observed.isEmpty { return .deny(objection) }
        let candidates = group.map { [$0] } ?? entitlements.groups
        let observed = candidates.filter(entitlements.observed.contains)
        return observed.isEmpty ? .deny(objection) : .observe(groups: observed, objection)
    }

    private func objection(to operations: [Operation], in group: AccessGroup?) -> Objection? {
        if let group, entitlements.beyondTrust.contains(group) { return .trust }
        if entitlements.groups.isEmpty { return .noGroup }
        guard operations.allSatisfy({ self.operations & $0.bit != 0 }) else { return .operation }
        guard let group, !entitlements.groups.contains(group) else { return nil }
        return .group
    }

    /// Writes a denial down; what the client is told.
    func deny(_ operations: [Operation], _ group: AccessGroup?, _ objection: Objection) -> Refusal {
        witness?.record(operations, group, .deny, objection)
        return objection.refusal
    }

    /// Whether the caller has the operation in the group, or is let through.
    func reaches(_ group: AccessGroup, for operation: Operation) -> Bool {
        if entitlements.observed.contains(group) { return true }
        return operations & operation.bit != 0 && entitlements.groups.contains(group)
    }

    /// Where the caller has the operation, or is let through.
    func groups(for operation: Operation) -> Set<AccessGroup> {
        let own = operations & operation.bit == 0 ? [] : Set(entitlements.groups)
        return own.union(entitlements.observed)
    }
}

extension Operation {
    // Asked of every call, where hashing its name would show.
    fileprivate var bit: UInt16 {
        switch self {
        case .read: 1
        case .search: 2
        case .add: 4
        case .update: 8
        case .delete: 16
        case .refresh: 32
        case .subscribe: 64
        case .logout: 128
        }
    }
}
