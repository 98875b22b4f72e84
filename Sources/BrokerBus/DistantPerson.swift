public import BrokerModel

/// A person of some session on the machine: no prompter of theirs is on the broker's bus, but polkit may know how to ask.
public struct DistantPerson: Person {
    private let polkit: Polkit?

    /// Without polkit nobody is asked.
    public init(_ polkit: Polkit? = nil) { self.polkit = polkit }

    /// `unreachable`.
    public func askForPasscode(_ question: PersonQuestion) async -> PersonAnswer { .unreachable }

    /// `unreachable`: nothing could say what the finger is wanted for.
    public func askForFinger(_ question: PersonQuestion, of set: FingerSet?) async -> PersonAnswer {
        .unreachable
    }

    /// `unreachable`: fprintd tells another user of this one's fingers only where the administrator has polkit say so.
    public func enrolment() async -> Enrolment { .unreachable }

    /// Has polkit ask, in the broker's words.
    public func askForPresence(_ question: PersonQuestion) async -> PersonAnswer {
        await polkit?.confirms(question, isOwner: true) ?? .unreachable
    }
}
