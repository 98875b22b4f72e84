/// Why a test cannot go on.
public struct TestFailure: Error, CustomStringConvertible {
    /// What happened.
    public let description: String

    /// Says what happened.
    public init(_ description: String) {
        self.description = description
    }
}
