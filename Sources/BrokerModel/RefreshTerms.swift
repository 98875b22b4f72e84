/// What a grant to refresh is bound to beside its item.
public struct RefreshTerms: Sendable, Equatable {
    /// The application that asks: the policy's name for it, or else its sandbox's id or its path.
    public let application: String
    /// The machine's boot, which ``now`` and ``deadline`` count in.
    public let boot: [UInt8]
    /// Microseconds of CLOCK_MONOTONIC.
    public let now: UInt64
    /// When the grant ends, of the same clock.
    public let deadline: UInt64

    /// All fields.
    public init(application: String, boot: [UInt8], now: UInt64, deadline: UInt64) {
        self.application = application
        self.boot = boot
        self.now = now
        self.deadline = deadline
    }
}

/// What came of asking for a grant to refresh.
public enum RefreshGrant: Sendable, Equatable {
    /// Durable; the fence never comes again.
    case granted(fence: UInt64)
    /// A grant of the broker before this one is open until then, in microseconds of CLOCK_MONOTONIC.
    case blocked(until: UInt64)
    /// The item is not any more what the grant was asked for.
    case changed
}

/// What became of a completed refresh.
public struct RefreshCompletion: Sendable, Equatable {
    /// The item.
    public let reference: Reference
    /// Its revision from now on, or from the next unlock on.
    public let revision: UInt64

    /// Both fields.
    public init(reference: Reference, revision: UInt64) {
        self.reference = reference
        self.revision = revision
    }
}

/// Why a refresh came to nothing; the words of the contract.
public enum RefreshFailure: String, Sendable {
    case transient
    case rejected
}

/// The answer to `Begin`.
public struct RefreshStart {
    /// Nil for `current`.
    public let fence: UInt64?
    /// The item as it is.
    public let item: ItemWithSecret

    /// Both fields.
    public init(fence: UInt64?, item: ItemWithSecret) {
        self.fence = fence
        self.item = item
    }
}

extension Refusal {
    /// A fence that was passed on, revoked, or is somebody else's.
    public static let leaseLost = Refusal(
        .leaseLost, "This refresh was passed on or revoked; nothing was stored. Read the item again.")
    /// Somebody else is refreshing, and did not end in time.
    public static let refreshBusy = Refusal(
        .busy, "Another program is refreshing the item; wait longer, and do not refresh it yourself.")
}
