/// What became of a completed refresh.
public struct RefreshCompletion: Sendable, Equatable {
    /// The item.
    public let reference: Reference
    /// Its revision from now on, or from the next unlock on.
    public let revision: UInt64

    /// Both fields.
    public init(reference: Reference, revision: UInt64) {
        self.reference = reference
        self.revision = revision
    }
}
