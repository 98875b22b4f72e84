extension SessionWatch {
    /// How following goes, for the log.
    public enum Note: Hashable, Sendable {
        /// logind tells of sessions, and they lock keychains.
        case follows
        case noLogind
        case noSystemBus(String)
        /// logind, or a bus, does not say what was asked of it.
        case unreadable(String)
        /// The machine may be asleep before a keychain is locked.
        case noInhibitor(String)

        /// Whether it is as it should be.
        public var isGood: Bool { self == .follows }

        /// For a person. The texts that it takes in are a bus's.
        public var text: String {
            switch self {
            case .follows: "logind tells of the sessions that lock and end"
            case .noLogind:
                "there is no logind on the system's bus: no session locks a keychain until there is one"
            case .noSystemBus(let why):
                "no system bus can be reached (\(why)): no session locks the keychain until there is one"
            case .unreadable(let why): "sessions cannot be followed: \(why)"
            case .noInhibitor(let why):
                "the machine may be asleep before a keychain is locked: logind does not wait for the broker (\(why))"
            }
        }
    }
}
