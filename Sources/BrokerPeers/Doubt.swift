import BrokerModel

/// Why a caller is nobody. Never kept: the connection's next call is looked at anew.
enum Doubt: Error, Sendable, CaseIterable {
    /// The bus does not know the connection, or not whose it is.
    case unknownToTheBus
    /// The process was gone before it was pinned, or went while it was read about.
    case ended
    /// It became another program while it was read about.
    case changed
    /// The deadline passed, or its user has too many look-ups under way.
    case late
    /// The broker could not look: no descriptors, no memory, no `/proc`, no pidfd.
    case unreadable

    var refusal: Refusal {
        switch self {
        case .unknownToTheBus:
            Refusal(.identityUnavailable, "The bus does not say who is calling, so the caller is nobody.")
        case .ended:
            Refusal(.identityUnavailable, "The calling process has ended, so the caller is nobody.")
        case .changed:
            Refusal(
                .identityUnavailable,
                "The calling process changed while it was looked at, so the caller is nobody; call again.")
        case .late:
            Refusal(
                .identityUnavailable,
                "The calling process could not be looked at in time, so the caller is nobody; call again.")
        case .unreadable:
            Refusal(
                .identityUnavailable,
                "The broker cannot look at processes just now, so the caller is nobody; call again.")
        }
    }
}
