public import BrokerModel
internal import BrokerPolicy

/// Leave to act on the items of some groups, once. Only the gate makes one, so a call that skipped the
/// policy does not compile.
public struct Grant: ~Copyable, Sendable {
    /// The groups whose items the call may touch, the caller's order; never empty.
    public let groups: [AccessGroup]
    private let standing: Standing

    init(groups: [AccessGroup], _ standing: Standing) {
        self.groups = groups
        self.standing = standing
    }

    /// The caller's groups, all of them: where an item may be moved. The first is the default on add.
    public var reachable: [AccessGroup] { standing.entitlements.groups }

    /// What the caller may do to items.
    public var operations: Set<Operation> { standing.entitlements.operations }

    /// Whether foreground items exist for the caller.
    public var role: Entitlements.Role { standing.entitlements.role }

    /// Quotas and classes of one of the groups.
    public borrowing func rules(of group: AccessGroup) -> GroupRules {
        standing.rules[group] ?? GroupRules()
    }

    /// Whether the caller sees items of that vault at all.
    public borrowing func sees(_ side: Accessibility.Side) -> Bool { role == .full || side == .background }

    /// A grant for a test of the rooms behind the gate.
    @_spi(Testing) public static func forTesting(
        groups: [AccessGroup], role: Entitlements.Role = .full,
        operations: Set<Operation> = Set(Operation.allCases), rules: [AccessGroup: GroupRules] = [:]
    ) -> Grant {
        let entitlements = Entitlements(groups: groups, role: role, operations: operations)
        return Grant(groups: groups, Standing(entitlements: entitlements, rules: rules))
    }
}

/// What a policy gives a caller, worked out once and shared by the grants of its calls.
final class Standing: Sendable {
    let entitlements: Entitlements
    let rules: [AccessGroup: GroupRules]
    private let operations: UInt16

    init(entitlements: Entitlements, rules: [AccessGroup: GroupRules]) {
        self.entitlements = entitlements
        self.rules = rules
        operations = entitlements.operations.reduce(0) { $0 | $1.bit }
    }

    convenience init(_ entitlements: Entitlements, under policy: Policy) {
        var rules: [AccessGroup: GroupRules] = [:]
        for group in entitlements.groups { rules[group] = policy.rules(of: group) }
        self.init(entitlements: entitlements, rules: rules)
    }

    /// Nil where the caller has a group and every one of the operations.
    func objection(to operations: [Operation]) -> Refusal? {
        if entitlements.groups.isEmpty { return .noGroup }
        return operations.allSatisfy { self.operations & $0.bit != 0 } ? nil : .missingOperation
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
