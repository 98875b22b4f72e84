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
