public import BrokerModel

/// One line of the audit: a decision that denied, or a secret that was read. It has no field that could hold
/// a secret, an account or an attribute's value.
public struct AuditEntry: Sendable, Hashable {
    /// What was asked.
    public var operation: String
    /// The application of the policy, where one matched.
    public var application: String?
    /// The group that was named; nil for all of the caller's.
    public var group: AccessGroup?
    /// Whether it was let through.
    public var isAllowed: Bool
    /// The trust of the caller's evidence.
    public var trust: Trust
    /// The caller's connection.
    public var connection: String
    /// The caller's process at connect.
    public var processID: UInt32?
}

/// Where audit lines go.
public protocol AuditSink: Sendable {
    /// Takes a line; it must not block.
    func record(_ entry: AuditEntry)
}
