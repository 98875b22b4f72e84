/// Where a broker is.
public enum Endpoint: Sendable, Equatable {
    /// The user's broker: over its direct endpoint where there is one, else on the session bus.
    case user
    /// The system's broker: over its direct endpoint where there is one, else on the system bus.
    case system
    /// A broker on the bus at that D-Bus address, or the direct endpoint at it.
    case address(String)
}
