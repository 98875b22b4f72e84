public import BrokerModel
internal import SDBus

/// The person at the desktop that the broker runs in, asked by the session's prompter.
public final class DesktopPerson: Person {
    private let prompter: any Prompter

    /// `prompter` shows what a person is asked.
    public init(prompter: any Prompter) { self.prompter = prompter }

    /// Has the prompter ask for it.
    public func askForPasscode(_ question: PersonQuestion) async -> PersonAnswer {
        await prompter.ask(PromptQuestion(.confirm, question)) ? .canceled : .unreachable
    }
}
