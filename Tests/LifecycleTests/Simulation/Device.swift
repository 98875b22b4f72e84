/// What the device is in, as the simulation itself has brought it about.
enum Device {
    /// The broker is away.
    case away
    case beforeFirstUnlock
    case locked
    case unlocked

    /// Whether the broker may open that item now.
    func serves(_ account: Account) -> Bool {
        switch self {
        case .away, .beforeFirstUnlock: false
        case .locked: account == .background
        case .unlocked: true
        }
    }
}
