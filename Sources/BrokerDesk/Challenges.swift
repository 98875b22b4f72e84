internal import BrokerModel
internal import SDBus
internal import Sodium

/// What is asked of the person at a keychain: the questions that are open, and what answered ones are still good for.
///
/// Calls of one program that want the same of the person at the same time are one question, on however many connections.
@BrokerActor final class Challenges {
    /// Who wants it.
    struct Asker {
        let connection: String
        let facts: PeerFacts
        /// The policy's name for the program; nil where it has none.
        let application: String?
        /// What the person is told.
        let program: String
        let trust: Trust
        let operation: Operation
        /// Whether the connection is there still.
        let isHere: () -> Bool
    }

    /// What the keychain says of itself, when it is asked.
    struct Keychain {
        let isPasscodeSet: () -> Bool
        let reuseSeconds: (AccessGroup) -> UInt32
        /// Microseconds that go on while the machine sleeps.
        let now: () -> UInt64
    }

    private struct Decision: Hashable {
        /// The application, or the connection of a program that has no name.
        let asker: String
        let trust: Trust
        let group: AccessGroup
        let constraint: Constraint
        /// What the person was told that it is for.
        let operation: Operation
    }

    private struct Open {
        let task: Task<PersonAnswer, Never>
        var connections: Set<String>
    }

    private struct Memory: Hashable {
        let connection: String
        let group: AccessGroup
        let constraint: Constraint
    }

    private final class PasscodeQuestion {
        var tries = 0
        var isConfirmed = false
        var asking: Task<PersonAnswer, Never>?
    }

    private let person: any Person
    private let keychain: Keychain
    private var open: [Decision: Open] = [:]
    private var passcodes: [UInt64: PasscodeQuestion] = [:]
    private var answered: [Memory: UInt64] = [:]
    private var locks = 0

    init(_ person: any Person, _ keychain: Keychain) {
        self.person = person
        self.keychain = keychain
    }

    /// What a person has made of demands.
    enum Outcome {
        /// They are met.
        case proven
        /// These are about fingers that are enrolled no more.
        case changed([Demand])
    }

    /// Returns when the person has done what the demands ask for, or some of them can be met no more. `UserCanceled`,
    /// `AuthFailed`, and `InteractionNotAllowed` where there is no way to ask.
    func prove(_ demands: [Demand], for asker: Asker) async throws(Refusal) -> Outcome {
        guard !demands.contains(where: \.isForKeyUse) else { throw .forKeyUse }
        let locksBefore = locks
        var asked: Set<Decision> = []
        for demand in demands {
            let decision = Decision(
                asker: asker.application ?? asker.connection, trust: asker.trust, group: demand.group,
                constraint: demand.constraint, operation: asker.operation)
            guard asked.insert(decision).inserted else { continue }
            let memory = Memory(
                connection: asker.connection, group: demand.group, constraint: demand.constraint)
            if isRemembered(memory) { continue }
            switch try await answer(decision, asker) {
            case .confirmed: if locks == locksBefore && asker.isHere() { remember(memory) }
            case .canceled: throw .promptCanceled
            case .refused: throw .notShown
            case .changed:
                let fingers = demand.constraint.fingers
                return .changed(demands.filter { $0.constraint.fingers == fingers })
            case .unreachable: throw .nobodyToAsk
            }
        }
        return .proven
    }

    /// The fingers that are enrolled. `AuthFailed` where none is, `InteractionNotAllowed` where that is not known.
    func enrolled() async throws(Refusal) -> FingerSet {
        switch await person.enrolment() {
        case .fingers(let set): return set
        case .nobody: throw .noFingers
        case .unreachable: throw .fingersUnknown
        }
    }

    /// A passcode for an open question. `check` tells whether it is right. `AuthFailed` for a wrong one, and for a
    /// question that is not open, with which no passcode is tried.
    func confirm(_ cookie: UInt64, _ check: () async throws(Refusal) -> Void) async throws(Refusal) {
        guard let question = passcodes[cookie], !question.isConfirmed,
            question.tries < Limits.passcodeTriesPerQuestionMax
        else { throw .noSuchQuestion }
        // Counted before it is known to be wrong: guesses may come side by side.
        question.tries += 1
        do throws(Refusal) {
            try await check()
        } catch {
            if question.tries == Limits.passcodeTriesPerQuestionMax { question.asking?.cancel() }
            throw error
        }
        guard passcodes[cookie] === question else { throw .noSuchQuestion }
        question.isConfirmed = true
        question.asking?.cancel()
    }

    /// The connection is gone: nobody is asked on its behalf any more.
    func forget(_ connection: String) {
        for (decision, question) in open where question.connections.contains(connection) {
            open[decision]?.connections.remove(connection)
            if question.connections.count == 1 { question.task.cancel() }
        }
        answered = answered.filter { $0.key.connection != connection }
    }

    /// The keychain was locked: whoever did that has left, or wants nothing to be read.
    func locked() {
        locks += 1
        for question in open.values { question.task.cancel() }
        answered = [:]
    }

    /// Another policy is in force: what it serves no longer is not served again by the one after it.
    func policyChanged() { answered = answered.filter { isRemembered($0.key) } }

    private func answer(_ decision: Decision, _ asker: Asker) async throws(Refusal) -> PersonAnswer {
        if let question = open[decision], !question.task.isCancelled {
            open[decision]?.connections.insert(asker.connection)
            return await question.task.value
        }
        guard open.count < Limits.openQuestionsPerUserMax,
            open.values.count(where: { $0.connections.contains(asker.connection) })
                < Limits.openQuestionsPerConnectionMax
        else { throw .tooManyQuestions }
        let task = BrokerActor.start { await self.ask(decision, asker) }
        open[decision] = Open(task: task, connections: [asker.connection])
        let answer = await task.value
        if open[decision]?.task == task { open[decision] = nil }
        return answer
    }

    private func ask(_ decision: Decision, _ asker: Asker) async -> PersonAnswer {
        let constraint = decision.constraint
        // What nobody can fulfil is not begun with.
        if constraint.needsAll && constraint.factors.contains(.passcode) && !keychain.isPasscodeSet() {
            return .refused
        }
        var result = PersonAnswer.unreachable
        for factor in constraint.factors where !Task.isCancelled {
            let answer = await ask(factor, decision.group, asker)
            switch answer {
            case .confirmed:
                if Task.isCancelled { return .unreachable }
                if !constraint.needsAll { return .confirmed }
            case .canceled, .changed: return answer
            case .refused, .unreachable:
                if constraint.needsAll { return answer }
                if answer == .refused { result = .refused }
            }
        }
        // What was confirmed while it was being taken back does not count.
        return constraint.needsAll && !Task.isCancelled ? .confirmed : result
    }

    private func ask(
        _ factor: Constraint.Factor, _ group: AccessGroup, _ asker: Asker
    ) async -> PersonAnswer {
        switch factor {
        case .passcode: keychain.isPasscodeSet() ? await askForPasscode(group, asker) : .refused
        case .presence: await askForPresence(group, asker)
        case .anyFinger: await person.askForFinger(question(group, asker), of: nil)
        case .enrolledFinger(let set?): await person.askForFinger(question(group, asker), of: set)
        case .enrolledFinger(nil): .refused
        }
    }

    // By what names the program itself, and else by the machine's authority.
    private func askForPresence(_ group: AccessGroup, _ asker: Asker) async -> PersonAnswer {
        let answer = keychain.isPasscodeSet() ? await askForPasscode(group, asker) : .unreachable
        guard answer == .unreachable, !Task.isCancelled else { return answer }
        return await person.askForPresence(question(group, asker))
    }

    private func askForPasscode(_ group: AccessGroup, _ asker: Asker) async -> PersonAnswer {
        let asked = question(group, asker)
        let question = PasscodeQuestion()
        passcodes[asked.cookie] = question
        defer { passcodes[asked.cookie] = nil }
        let asking = BrokerActor.start { await self.person.askForPasscode(asked) }
        question.asking = asking
        let answer = await withTaskCancellationHandler {
            await asking.value
        } onCancel: {
            asking.cancel()
        }
        if question.isConfirmed { return .confirmed }
        return question.tries < Limits.passcodeTriesPerQuestionMax ? answer : .refused
    }

    private func question(_ group: AccessGroup, _ asker: Asker) -> PersonQuestion {
        PersonQuestion(
            cookie: Random.number(), connection: asker.connection,
            facts: asker.facts, program: asker.program, trust: asker.trust, group: group,
            operation: asker.operation)
    }
}

// What one answer is good for.
extension Challenges {
    private func isRemembered(_ memory: Memory) -> Bool {
        guard let since = answered[memory] else { return false }
        // The policy may have changed meanwhile, and the shorter time counts.
        return keychain.now() < since + UInt64(keychain.reuseSeconds(memory.group)) * 1_000_000
    }

    // The passcode alone is asked for each time: it is what an item is put under so that each time counts. So is what was
    // enrolled, which may have changed since.
    private func remember(_ memory: Memory) {
        guard keychain.reuseSeconds(memory.group) > 0, !memory.constraint.isPasscodeAlone,
            !memory.constraint.isForEnrolledFinger
        else { return }
        answered[memory] = keychain.now()
    }
}

extension Refusal {
    fileprivate static let forKeyUse = Refusal(
        .authFailed, "The item's access control lets its key be used, and not be read or changed.")
    fileprivate static let promptCanceled = Refusal(.userCanceled, "The person at the desk did not want it.")
    fileprivate static let notShown = Refusal(
        .authFailed, "Nobody has shown to be the person that the item asks for.")
    fileprivate static let nobodyToAsk = Refusal(
        .interactionNotAllowed,
        "The item asks for a person's presence, and there is no way to ask here and now; see chatelained(8).")
    fileprivate static let tooManyQuestions = Refusal(
        .interactionNotAllowed,
        "So many questions wait for the person already; try again when they are answered.")
    fileprivate static let noSuchQuestion = Refusal(.authFailed, "No question with that number is open.")
}
