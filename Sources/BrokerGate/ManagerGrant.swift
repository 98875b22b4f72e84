/// Leave for one call of the manager: the user's own (passcode, lock, unlock) or an administrator's.
public struct ManagerGrant: ~Copyable, Sendable {
    init() {}

    /// A grant for a test of the rooms behind the gate.
    @_spi(Testing) public static func forTesting() -> ManagerGrant { ManagerGrant() }
}

/// Leave for what acts for nobody: the sweeper of expired items, and work that waited for an unlock.
/// The daemon's wiring alone makes one.
public struct CustodianGrant: ~Copyable, Sendable {
    /// Named apart, so that no other room reaches it by accident.
    @_spi(Wiring) public init() {}
}
