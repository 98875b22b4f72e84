/// Where a broker is.
public enum Endpoint: Sendable, Equatable {
    /// The user's broker, on the session bus.
    case user
    /// The system's broker, on the system bus.
    case system
    /// A broker on the bus at that D-Bus address.
    case address(String)
}
