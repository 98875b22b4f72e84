/// A connected client, as `ListClients` tells an administrator.
public struct ClientRecord: Sendable {
    /// The connection's unique name.
    public var connection: String
    /// The process at connect; 0 where it is not known.
    public var processID: UInt32
    /// What the policy gives it.
    public var entitlements: Entitlements
    /// The groups it is subscribed to.
    public var subscribed: [AccessGroup]
    /// Logouts that it was told of and has not acknowledged.
    public var pendingLogouts: UInt32

    /// All fields.
    public init(
        connection: String, processID: UInt32, entitlements: Entitlements, subscribed: [AccessGroup],
        pendingLogouts: UInt32
    ) {
        self.connection = connection
        self.processID = processID
        self.entitlements = entitlements
        self.subscribed = subscribed
        self.pendingLogouts = pendingLogouts
    }
}

/// Why a caller reaches a group, or does not, as `Explain` tells an administrator.
public struct ExplainRecord: Sendable {
    /// The application of the policy; empty where none matched.
    public var application: String
    /// The trust of the evidence.
    public var trust: Trust
    /// Whether the group is the caller's.
    public var isAllowed: Bool
    /// Sentences for a person.
    public var reasons: [String]
    /// `file:line`; empty where no line decided.
    public var policy: String

    /// All fields.
    public init(
        application: String, trust: Trust, isAllowed: Bool, reasons: [String], policy: String
    ) {
        self.application = application
        self.trust = trust
        self.isAllowed = isAllowed
        self.reasons = reasons
        self.policy = policy
    }
}

/// A keychain as the manager's properties tell of it.
public struct ManagerStatus: Sendable {
    /// Which class keys are in memory.
    public var state: DeviceState
    /// Whether a passcode protects the keybag.
    public var isPasscodeSet: Bool
    /// Whether there is a recovery key.
    public var isRecoveryKeySet: Bool
    /// What wants an administrator's attention.
    public var conditions: [Condition]

    /// All fields.
    public init(
        state: DeviceState, isPasscodeSet: Bool, isRecoveryKeySet: Bool = false, conditions: [Condition]
    ) {
        self.state = state
        self.isPasscodeSet = isPasscodeSet
        self.isRecoveryKeySet = isRecoveryKeySet
        self.conditions = conditions
    }
}

/// How many items a recovery keeps, and how many are lost by it: of those that may not leave their device, the ones whose
/// class key is nowhere any more.
public struct RecoveryCount: Sendable, Equatable {
    /// Items that can be read afterwards.
    public var kept: UInt32
    /// Items that are deleted for good.
    public var lost: UInt32

    /// Both counts.
    public init(kept: UInt32 = 0, lost: UInt32 = 0) {
        self.kept = kept
        self.lost = lost
    }
}

/// What a subscriber is told at once.
public struct Subscription: Sendable {
    /// The device's state.
    public var state: DeviceState
    /// The groups that signals will come for, each with its last logout epoch.
    public var epochs: [(group: AccessGroup, epoch: UInt64)]
    /// The number of the last signal that was sent to this subscriber.
    public var sequence: UInt64

    /// All fields.
    public init(state: DeviceState, epochs: [(group: AccessGroup, epoch: UInt64)], sequence: UInt64) {
        self.state = state
        self.epochs = epochs
        self.sequence = sequence
    }
}

/// What a group holds.
public struct GroupRecord: Sendable {
    /// The group.
    public var group: AccessGroup
    /// Its after-first-unlock items.
    public var background: UInt32
    /// Its other items.
    public var foreground: UInt32

    /// All fields.
    public init(group: AccessGroup, background: UInt32, foreground: UInt32) {
        self.group = group
        self.background = background
        self.foreground = foreground
    }
}

/// Something that wants an administrator's attention; the words of the `Conditions` property.
public enum Condition: String, Sendable, CaseIterable {
    case memoryNotLocked = "memory-not-locked"
    case passcodeOutOfStep = "passcode-out-of-step"
    case waitingForStore = "waiting-for-store"
    case deviceKeyMissing = "device-key-missing"
    case policyRefused = "policy-refused"
}
