/// Who asks the real person at a keychain.
public protocol Person: Sendable {
    /// Has the keychain's passcode asked for. It is not given back here: whoever asks hands it to the broker with the
    /// question's number, and this returns when the person has answered or does not want to. `unreachable` where nobody
    /// could be asked. A task that is cancelled withdraws the question.
    func askForPasscode(_ question: PersonQuestion) async -> PersonAnswer

    /// Has the machine's authority make sure of the person, who is told what for. `unreachable` where there is no
    /// authority, or nobody whom it could ask. A task that is cancelled withdraws the question.
    func askForPresence(_ question: PersonQuestion) async -> PersonAnswer

    /// Has the person touch the fingerprint reader. `refused` where no finger is enrolled, or three were others;
    /// `unreachable` where there is no reader to ask with. A task that is cancelled lets go of the reader.
    /// With `set`, `changed` where another is enrolled: before anybody is asked, or while the reader was waited for.
    func askForFinger(_ question: PersonQuestion, of set: FingerSet?) async -> PersonAnswer

    /// The fingers that are enrolled. Nobody is asked for one.
    func enrolment() async -> Enrolment
}

/// What a person is told before it decides.
public struct PersonQuestion: Sendable {
    /// The question's number, which nobody can guess.
    public let cookie: UInt64
    /// The connection of the program that wants it.
    public let connection: String
    /// What is known of its process.
    public let facts: PeerFacts
    /// The program that wants it, as the policy names it or by its path.
    public let program: String
    /// What the program's identity is worth.
    public let trust: Trust
    /// The group of the items.
    public let group: AccessGroup
    /// What the program wants to do.
    public let operation: Operation

    /// All fields.
    public init(
        cookie: UInt64, connection: String, facts: PeerFacts, program: String, trust: Trust,
        group: AccessGroup, operation: Operation
    ) {
        self.cookie = cookie
        self.connection = connection
        self.facts = facts
        self.program = program
        self.trust = trust
        self.group = group
        self.operation = operation
    }
}

/// How a question ended.
public enum PersonAnswer: Sendable, Equatable {
    /// The person has shown it.
    case confirmed
    /// The person did not want to.
    case canceled
    /// Somebody tried, and it was not right; or nobody can do it.
    case refused
    /// What is enrolled is not what it was when the item was stored.
    case changed
    /// There is no way to ask now.
    case unreachable
}
