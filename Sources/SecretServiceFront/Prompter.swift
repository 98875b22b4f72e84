public import BrokerModel
public import SDBus

/// Who asks the person for the passcode. The answer does not come back here: whoever asked unlocks the keychain with it.
@BrokerActor public protocol Prompter {
    /// Whether there is a way to ask at all.
    func isAvailable() async -> Bool

    /// Asks, and returns when the person has answered; false where nobody was asked or has answered. A task that is
    /// cancelled withdraws the question.
    func ask(_ question: PromptQuestion) async -> Bool
}

/// What a person is told before it decides.
public struct PromptQuestion: Sendable {
    /// The program that asks, as the policy names it or by its path.
    public let program: String
    /// What its identity is worth.
    public let trust: Trust
    /// The window that the question belongs to, in the client's words.
    public let window: String

    /// All fields.
    public init(program: String, trust: Trust, window: String) {
        self.program = program
        self.trust = trust
        self.window = window
    }
}
