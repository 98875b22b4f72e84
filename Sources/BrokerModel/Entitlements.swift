/// What the policy gives one caller: worked out from its facts once for each policy, never from what it
/// says of itself.
public struct Entitlements: Sendable, Equatable {
    /// The `[Application ID]` that matched, if one did.
    public var application: String?
    /// The trust of the evidence that matched.
    public var trust: Trust
    /// The groups, in the order of POLICY: granted ones, then private ones. The first is the default on add.
    public var groups: [AccessGroup]
    /// Background callers do not see foreground items.
    public var role: Role
    /// What the caller may do to its groups' items.
    public var operations: Set<Operation>
    /// Whether `[Manager]` lists the program.
    public var isManager: Bool
    /// Whether a recognised sandbox holds the caller.
    public var isSandboxed: Bool
    /// `file:line` of the section that decided, where one did.
    public var source: String?
    /// Groups that would be the caller's, were its evidence worth more.
    public var beyondTrust: Set<AccessGroup>
    /// Groups in observe mode, where what the policy denies this caller is let through.
    public var observed: Set<AccessGroup>

    /// Whether a caller sees all items or the background ones alone.
    public enum Role: String, Sendable {
        case full
        case background

        /// Whether items of that side exist for the caller.
        public func sees(_ side: Accessibility.Side) -> Bool { self == .full || side == .background }
    }

    /// A caller with nothing but a user id: no group at all.
    public static let none = Entitlements()

    /// Everything that has a default may be left out.
    public init(
        application: String? = nil, trust: Trust = .user, groups: [AccessGroup] = [], role: Role = .full,
        operations: Set<Operation> = Set(Operation.allCases), isManager: Bool = false,
        isSandboxed: Bool = false, source: String? = nil, beyondTrust: Set<AccessGroup> = [],
        observed: Set<AccessGroup> = []
    ) {
        self.application = application
        self.trust = trust
        self.groups = groups
        self.role = role
        self.operations = operations
        self.isManager = isManager
        self.isSandboxed = isSandboxed
        self.source = source
        self.beyondTrust = beyondTrust
        self.observed = observed
    }
}
