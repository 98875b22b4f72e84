public import BrokerModel

/// Leave to act on the items of some groups, once. Only the gate makes one, so a call that skipped the
/// policy does not compile.
public struct Grant: ~Copyable, Sendable {
    /// The groups whose items the call may touch, the caller's order; never empty.
    public let groups: [AccessGroup]
    /// The caller's groups, all of them: where an item may be moved. The first is the default on add.
    public let reachable: [AccessGroup]
    /// What the caller may do to items.
    public let operations: Set<Operation>
    /// Whether foreground items exist for the caller.
    public let role: Entitlements.Role
    private let rules: [AccessGroup: GroupRules]

    init(
        groups: [AccessGroup], reachable: [AccessGroup], operations: Set<Operation>, role: Entitlements.Role,
        rules: [AccessGroup: GroupRules]
    ) {
        self.groups = groups
        self.reachable = reachable
        self.operations = operations
        self.role = role
        self.rules = rules
    }

    /// Quotas and classes of one of the groups.
    public borrowing func rules(of group: AccessGroup) -> GroupRules { rules[group] ?? GroupRules() }

    /// Whether the caller sees items of that vault at all.
    public borrowing func sees(_ side: Accessibility.Side) -> Bool { role == .full || side == .background }

    /// A grant for a test of the rooms behind the gate.
    @_spi(Testing) public static func forTesting(
        groups: [AccessGroup], role: Entitlements.Role = .full,
        operations: Set<Operation> = Set(Operation.allCases), rules: [AccessGroup: GroupRules] = [:]
    ) -> Grant {
        Grant(groups: groups, reachable: groups, operations: operations, role: role, rules: rules)
    }
}
