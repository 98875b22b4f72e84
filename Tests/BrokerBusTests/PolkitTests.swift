import BrokerModel
import SDBus
import TestKit
import Testing

@testable import BrokerBus

/// A bus, what plays polkit on it, and the broker's end.
@BrokerActor private final class Scene {
    let fake = FakePolkit()
    let polkit: Polkit
    let authority: Connection
    let broker: Connection
    private let bus: PrivateBus
    private var kept: [Registration] = []

    init(_ interface: Interface? = nil, isInstalled: Bool = true) async throws {
        TestLoop.start()
        bus = try await PrivateBus.start()
        broker = try Connection.open(address: bus.address)
        authority = try Connection.open(address: bus.address)
        polkit = Polkit(broker)
        kept.append(try authority.export([interface ?? fake.interface], at: FakePolkit.path))
        if isInstalled { try await authority.requestName(FakePolkit.name) }
    }

    isolated deinit { fake.dismiss() }

    /// Asks, and lets the test go on meanwhile.
    func ask(
        _ connection: String = ":1.7", _ facts: PeerFacts = PeerFacts(userID: 1000),
        _ action: String = AuthorityAction.manage, allowsInteraction: Bool = false
    ) -> Task<Authorization, Never> {
        BrokerActor.start { [polkit] in
            await polkit.allows(
                connection, facts: facts, action: action, allowsInteraction: allowsInteraction)
        }
    }

    func question() async throws -> FakePolkit.Question {
        try await fake.questions.next("a question to polkit")
    }
}

@Suite struct PolkitTests {
    init() { TestLoop.start() }

    @BrokerActor @Test func aCallerOnTheBusIsNamedByItsConnection() async throws {
        let scene = try await Scene()
        let answer = scene.ask(":1.42", PeerFacts(userID: 1000, processID: 7), AuthorityAction.setPasscode)
        let question = try await scene.question()
        #expect(question.subject == .init(kind: "system-bus-name", details: ["name": ":1.42"]))
        #expect(question.action == "org.chatelaine.set-passcode")
        #expect(question.flags == 0)
        scene.fake.answer(question, isAuthorized: true)
        #expect(await answer.value == .allowed)
    }

    @BrokerActor @Test func aPersonIsAskedOnlyWhereTheCallerAllowsIt() async throws {
        let scene = try await Scene()
        let answer = scene.ask(allowsInteraction: true)
        let question = try await scene.question()
        #expect(question.flags == 1)
        scene.fake.answer(question, isAuthorized: true)
        #expect(await answer.value == .allowed)
    }

    @BrokerActor @Test func aDirectCallerIsNamedByItsProcessAndTheProcesssStart() async throws {
        let scene = try await Scene()
        var facts = PeerFacts(userID: 1000, processID: 4711)
        facts.startTicks = 99
        let answer = scene.ask("direct:3", facts)
        let question = try await scene.question()
        #expect(
            question.subject
                == .init(
                    kind: "unix-process", details: ["pid": "u 4711", "start-time": "t 99", "uid": "i 1000"]))
        scene.fake.answer(question, isAuthorized: true)
        #expect(await answer.value == .allowed)
    }

    @BrokerActor @Test func whoCannotBeNamedIsDeniedUnasked() async throws {
        let scene = try await Scene()
        var started = PeerFacts(userID: 1000)
        started.startTicks = 99
        #expect(await scene.ask("direct:3", PeerFacts(userID: 1000, processID: 4711)).value == .denied)
        #expect(await scene.ask("direct:3", started).value == .denied)
        started.processID = 4711
        #expect(await scene.ask("pid:4711", started).value == .denied)
        #expect(await scene.ask("org.example.Name", started).value == .denied)
        started.userID = 1 << 31
        #expect(await scene.ask("direct:3", started).value == .denied)
        // The first question that arrives is the last that was asked.
        let last = scene.ask(":1.9")
        #expect(try await scene.question().cancellation == "1")
        last.cancel()
        #expect(await last.value == .denied)
    }

    @BrokerActor @Test func anAnswerWithoutAYesIsANo() async throws {
        let scene = try await Scene()
        for isChallenge in [false, true] {
            let answer = scene.ask()
            scene.fake.answer(try await scene.question(), isAuthorized: false, isChallenge: isChallenge)
            #expect(await answer.value == .denied)
        }
    }

    @BrokerActor @Test func aFailureIsANo() async throws {
        let scene = try await Scene()
        let errors = [
            "org.freedesktop.PolicyKit1.Error.Failed", "org.freedesktop.DBus.Error.NoReply",
            // As of a caller that has gone: it must not pass for a machine without polkit.
            "org.freedesktop.DBus.Error.NameHasNoOwner", "org.freedesktop.DBus.Error.ServiceUnknown",
        ]
        for error in errors {
            let answer = scene.ask()
            scene.fake.fail(try await scene.question(), error)
            #expect(await answer.value == .denied)
        }
    }

    @BrokerActor @Test func anAnswerOfOtherTypesIsANo() async throws {
        let scene = try await Scene(FakePolkit.garbled)
        #expect(await scene.ask().value == .denied)
    }

    @BrokerActor @Test func whereNobodyAnswersToTheNameThereIsNoAuthority() async throws {
        let scene = try await Scene(isInstalled: false)
        #expect(await scene.ask().value == .unreachable)
    }

    @BrokerActor @Test func anAuthorityThatDiesOverAQuestionHasDenied() async throws {
        let scene = try await Scene()
        let answer = scene.ask()
        _ = try await scene.question()
        scene.authority.close()
        #expect(await answer.value == .denied)
    }

    @BrokerActor @Test func theBrokersOwnBusGoesOverAQuestion() async throws {
        let scene = try await Scene()
        let answer = scene.ask()
        _ = try await scene.question()
        scene.broker.close()
        #expect(await answer.value == .denied)
    }

    @BrokerActor @Test func questionsDoNotWaitForOneAnother() async throws {
        let scene = try await Scene()
        let slow = scene.ask(":1.7")
        let slowQuestion = try await scene.question()
        let quick = scene.ask(":1.8")
        scene.fake.answer(try await scene.question(), isAuthorized: true)
        #expect(await quick.value == .allowed)
        scene.fake.answer(slowQuestion, isAuthorized: false)
        #expect(await slow.value == .denied)
    }

    @BrokerActor @Test func theQuestionsOfACallerThatGoesAreWithdrawn() async throws {
        let scene = try await Scene()
        let goes = scene.ask(":1.7", allowsInteraction: true)
        let withdrawn = try await scene.question()
        let stays = scene.ask(":1.8")
        let other = try await scene.question()
        scene.polkit.connectionGone(":1.7")
        #expect(await goes.value == .denied)
        let cancellation = try await scene.fake.withdrawals.next("a withdrawal")
        #expect(cancellation == withdrawn.cancellation)
        #expect(cancellation != other.cancellation)
        // polkit may have said yes in the same moment: that yes is for nobody.
        scene.fake.answer(withdrawn, isAuthorized: true)
        scene.fake.answer(other, isAuthorized: true)
        #expect(await stays.value == .allowed)
    }

    @BrokerActor @Test func aUserWithTooManyQuestionsHoldsUpNobodyElse() async throws {
        let scene = try await Scene()
        var open: [Task<Authorization, Never>] = []
        var questions: [FakePolkit.Question] = []
        for number in 0..<Limits.openQuestionsPerUserMax {
            open.append(scene.ask(":1.\(100 + number)"))
            questions.append(try await scene.question())
        }
        #expect(await scene.ask(":1.7").value == .denied)
        let other = scene.ask(":1.8", PeerFacts(userID: 1001))
        scene.fake.answer(try await scene.question(), isAuthorized: true)
        #expect(await other.value == .allowed)
        scene.fake.answer(questions[0], isAuthorized: true)
        #expect(await open[0].value == .allowed)
        let again = scene.ask(":1.7")
        scene.fake.answer(try await scene.question(), isAuthorized: true)
        #expect(await again.value == .allowed)
        for question in questions { scene.fake.answer(question, isAuthorized: false) }
    }
}
