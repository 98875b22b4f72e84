public import BrokerModel

/// A person that the broker has no way to ask.
public struct DistantPerson: Person {
    /// Nobody is asked.
    public init() {}

    /// `unreachable`.
    public func askForPasscode(_ question: PersonQuestion) async -> PersonAnswer { .unreachable }
}
