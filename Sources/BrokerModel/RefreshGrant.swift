/// What came of asking for a grant to refresh.
public enum RefreshGrant: Sendable, Equatable {
    /// Durable; the fence never comes again.
    case granted(fence: UInt64)
    /// A grant of the broker before this one is open until then, in microseconds of CLOCK_MONOTONIC.
    case blocked(until: UInt64)
    /// The item is not any more what the grant was asked for.
    case changed
}
