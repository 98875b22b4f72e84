public import BrokerModel

/// Leave to act on the items of some groups, once. Only the gate makes one, so a call that skipped the
/// policy does not compile.
public struct Grant: ~Copyable, Sendable {
    /// The groups whose items the call may touch, the caller's order; never empty.
    public let groups: [AccessGroup]
    private let operations: [Operation]
    private let standing: Standing

    init(groups: [AccessGroup], for operations: [Operation], _ standing: Standing) {
        self.groups = groups
        self.operations = operations
        self.standing = standing
    }

    /// Refuses a move to a group that the caller does not have, or may not add to. `MissingEntitlement`.
    public borrowing func checkMove(to group: AccessGroup) throws(Refusal) {
        if standing.reaches(group, for: .add) { return }
        let isOwn = standing.entitlements.groups.contains(group)
        throw standing.deny([.add], group, isOwn ? .operation : .group)
    }

    /// Refuses to put an item where the caller's role does not let it see items. `MissingEntitlement`.
    public borrowing func checkStoring(_ side: Accessibility.Side, in group: AccessGroup) throws(Refusal) {
        if !sees(side) { throw standing.deny(operations, group, .role) }
    }

    /// Whether foreground items exist for the caller.
    public var role: Entitlements.Role { standing.entitlements.role }

    /// Quotas and classes of one of the groups.
    public borrowing func rules(of group: AccessGroup) -> GroupRules {
        standing.rules[group] ?? GroupRules()
    }

    /// The class of the secret of an item of `org.freedesktop.secrets` where it is apart from the item, which can then be
    /// found while locked; nil where it is in the background as the item is.
    public borrowing func secretAccessible(
        of lookup: LookupAttributes, in group: AccessGroup
    ) -> Accessibility? {
        standing.foregroundSecrets.accessibility(of: lookup, in: group, under: rules(of: group))
    }

    /// Whether the caller sees items of that vault at all.
    public borrowing func sees(_ side: Accessibility.Side) -> Bool { role.sees(side) }

    /// A grant for a test of the rooms behind the gate.
    @_spi(Testing) public static func forTesting(
        groups: [AccessGroup], role: Entitlements.Role = .full,
        operations: Set<Operation> = Set(Operation.allCases), rules: [AccessGroup: GroupRules] = [:],
        foregroundSecrets: ForegroundSecrets = .none
    ) -> Grant {
        let entitlements = Entitlements(groups: groups, role: role, operations: operations)
        let standing = Standing(
            entitlements: entitlements, rules: rules, foregroundSecrets: foregroundSecrets)
        return Grant(groups: groups, for: [], standing)
    }
}
