public import SDBus

/// Who asks the person for the passcode. The answer does not come back here: whoever asked hands it to the broker, by
/// `Unlock` or by `Confirm`.
@BrokerActor public protocol Prompter: Sendable {
    /// Whether there is a way to ask at all.
    func isAvailable() async -> Bool

    /// Asks, and returns when the person has answered; false where nobody was asked or has answered. A task that is
    /// cancelled withdraws the question.
    func ask(_ question: PromptQuestion) async -> Bool
}
