/// Leave for one call of the manager: the user's own (passcode, lock, unlock) or an administrator's.
public struct ManagerGrant: ~Copyable, Sendable {
    /// Who was given it.
    public enum Holder: Sendable {
        /// A program of the keychain's user.
        case user
        /// Whoever the machine, or with `--user` the policy, trusts with the keychains of others.
        case administrator
        /// Root, who speaks for whoever logs in.
        case root
    }

    /// Who was given it.
    public let holder: Holder

    init(_ holder: Holder) { self.holder = holder }

    /// A grant for a test of the rooms behind the gate.
    @_spi(Testing) public static func forTesting(_ holder: Holder = .user) -> ManagerGrant {
        ManagerGrant(holder)
    }
}

/// Leave for what acts for nobody: the sweeper of expired items, and work that waited for an unlock.
/// The daemon's wiring alone makes one.
public struct CustodianGrant: ~Copyable, Sendable {
    /// Named apart, so that no other room reaches it by accident.
    @_spi(Wiring) public init() {}
}
