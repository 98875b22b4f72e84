/// What the bus itself says of a connection (`GetConnectionCredentials`), or the socket of a direct one.
public struct ConnectionCredentials: Sendable {
    /// `UnixUserID`, fixed at connect.
    public var userID: UInt32?
    /// `ProcessID`, fixed at connect.
    public var processID: UInt32?
    /// `ProcessFD` (nil before dbus 1.16), or `SO_PEERPIDFD`: a pidfd that the receiver owns and closes.
    public var processFD: Int32?
    /// `UnixGroupIDs`: effective and supplementary groups fixed at connect.
    public var groupIDs: [UInt32]?
    /// `LinuxSecurityLabel`, or `SO_PEERSEC`, without its one trailing NUL.
    public var securityLabel: [UInt8]?

    /// Nothing known.
    public init() {}
}

/// Where peers ask about a connection; the bus room answers it.
public protocol CredentialSource: Sendable {
    /// Nil when the connection is gone or the bus does not answer.
    func credentials(of connection: String) async -> ConnectionCredentials?
}

/// A thread of its own for work that blocks. It does what it is handed and decides nothing.
public protocol BlockingWorker: Sendable {
    /// Runs `body` on the thread and comes back to the caller's actor with its result.
    func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result
}

/// Runs work that a caller's own file system could stall, on a fresh thread and with a deadline (POLICY,
/// rule 5). The thread does what it is handed and decides nothing.
public protocol DeadlineReader: Sendable {
    /// Runs `body` and comes back to the caller's actor with its result. `key`, a user id, has at most
    /// `Limits.peerLookupsPerUserMax` of them under way; more wait their turn. Nil when the deadline passed:
    /// then `body` may never have run, or still runs with nobody to hear its result, so it must own everything
    /// it uses.
    func run<R: Sendable>(
        key: UInt32, deadlineMicroseconds: UInt64, _ body: @escaping @Sendable () -> R
    ) async -> R?
}
