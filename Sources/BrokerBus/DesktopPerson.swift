public import BrokerModel
internal import SDBus

/// The person at the desktop that the broker runs in, asked by the session's prompter, and by the machine's services
/// while the prompter tells what for.
public final class DesktopPerson: Person {
    private let prompter: any Prompter
    private let turns: PromptTurns
    private let systemBus: SystemBus

    /// `prompter` shows what a person is asked, in turns that are taken here; on `systemBus` are the machine's services.
    public init(prompter: any Prompter, turns: PromptTurns, systemBus: SystemBus) {
        self.prompter = prompter
        self.turns = turns
        self.systemBus = systemBus
    }

    /// Has the prompter ask for it.
    public func askForPasscode(_ question: PersonQuestion) async -> PersonAnswer {
        await turns.run {
            await self.prompter.ask(PromptQuestion(.confirm, question)) ? .canceled : .unreachable
        }
    }

    /// Has polkit ask, whose window cannot say what for: it takes no words from a user's program.
    public func askForPresence(_ question: PersonQuestion) async -> PersonAnswer {
        guard let polkit = await systemBus.authority() else { return .unreachable }
        return await told(PromptQuestion(.password, question)) {
            await polkit.confirms(question, isOwner: false)
        }
    }

    /// Has fprintd wait for a finger, if one is enrolled.
    public func askForFinger(_ question: PersonQuestion, of set: FingerSet?) async -> PersonAnswer {
        guard let reader = await systemBus.reader() else { return .unreachable }
        if let obstacle = await reader.obstacle(to: set) { return obstacle }
        return await told(PromptQuestion(.finger, question)) { await reader.verify(set) }
    }

    /// As fprintd tells them.
    public func enrolment() async -> Enrolment { await systemBus.reader()?.enrolment() ?? .unreachable }

    // Nobody is asked for what it was not told about: whichever ends first ends the other, and nothing else is shown
    // meanwhile.
    private func told(
        _ notice: PromptQuestion, _ ask: @escaping @Sendable () async -> PersonAnswer
    ) async -> PersonAnswer {
        await turns.run {
            guard !Task.isCancelled else { return .unreachable }
            return await withTaskGroup(of: PersonAnswer.self) { (group) in
                group.addTask { [prompter] in await prompter.ask(notice) ? .canceled : .unreachable }
                group.addTask { await ask() }
                let first = await group.next() ?? .unreachable
                group.cancelAll()
                return first
            }
        }
    }
}
