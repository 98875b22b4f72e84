internal import BrokerHost
internal import Chatelaine
internal import Console
internal import SDBus

/// `org.chatelaine.Prompter1`: asks what the broker wants asked, one question after the other.
@BrokerActor final class PrompterService {
    static let name = "org.chatelaine.Prompter1"
    private static let path = "/org/chatelaine/Prompter1"
    private static let brokerName = "org.chatelaine.Broker1"
    private static let idleMicroseconds: UInt64 = 60_000_000
    private static let questionsMax = 64

    private struct Key: Hashable {
        let asker: String
        let cookie: UInt64
    }

    private let connection: Connection
    private let pinentry: String?
    private var questions: [Key: Task<BusError?, Never>] = [:]
    private var last: Task<BusError?, Never>?
    private var registrations: [Registration] = []
    private var idle: Timer?

    /// `pinentry` is a file's path; nil for the desktop's own.
    init(_ connection: Connection, pinentry: String?) {
        self.connection = connection
        self.pinentry = pinentry
    }

    /// Serves, and owns the name.
    func start() async throws(BusError) {
        registrations = [
            try connection.export([interface()], at: Self.path),
            try connection.onDisconnect { BrokerActor.shared.loop.stop(code: ExitStatus.unavailable) },
            // Nobody waits for the answer any more.
            try await connection.onNameOwnerChanged(name: Self.brokerName) { [weak self] _, old, _ in
                self?.withdrawAll(of: old)
            },
        ]
        try await connection.requestName(Self.name)
        waitForIdleness()
    }

    private func interface() -> Interface {
        Interface(Self.name) {
            Method("CanAsk", out: ["can"]) { [self] (_: borrowing Call) throws(BusError) -> Bool in
                waitForIdleness()
                return program != nil
            }
            Method("Ask", in: ["cookie", "question"]) {
                [self] (call: borrowing Call, cookie: UInt64, question: Question) throws(BusError) -> Answer<
                    Void
                > in
                guard let asker = call.sender else { throw .notTheBroker }
                let task = try begin(Key(asker: asker, cookie: cookie), question)
                return .later { () async throws(BusError) in
                    if let error = await task.value { throw error }
                }
            }
            Method("Withdraw", in: ["cookie"]) {
                [self] (call: borrowing Call, cookie: UInt64) throws(BusError) -> Void in
                guard let asker = call.sender else { throw .notTheBroker }
                questions[Key(asker: asker, cookie: cookie)]?.cancel()
            }
        }
    }

    // The question is known before anything is waited for, so that it can be taken back at any time.
    private func begin(_ key: Key, _ question: Question) throws(BusError) -> Task<BusError?, Never> {
        guard questions[key] == nil else {
            throw .invalidArguments("The cookie stands for another question.")
        }
        guard questions.count < Self.questionsMax else {
            throw BusError(
                name: "org.freedesktop.DBus.Error.LimitsExceeded",
                message: "So many questions wait for an answer already.")
        }
        idle?.cancel()
        let task = BrokerActor.start { () -> BusError? in
            defer {
                self.questions[key] = nil
                self.waitForIdleness()
            }
            do throws(BusError) {
                try await self.ask(key, question)
                return nil
            } catch {
                return error
            }
        }
        questions[key] = task
        return task
    }

    private func ask(_ key: Key, _ question: Question) async throws(BusError) {
        let owner = try await connection.callBus("GetNameOwner", Self.brokerName).read(String.self)
        guard owner == key.asker else { throw .notTheBroker }
        let before = last
        last = questions[key]
        _ = await before?.value
        if Task.isCancelled { return }
        guard let program else { throw .nobodyToAsk }
        // A connection of its own, whose session goes with it: an older one may be of a broker that has ended since.
        let broker: Broker
        do throws(ChatelaineError) {
            broker = try Broker.connectToBus(.user)
        } catch {
            throw .failed(error.text)
        }
        defer { broker.close() }
        try await Dialog(broker: broker, pinentry: program).ask(question, key.cookie)
    }

    // What asks; nil where nothing can show itself.
    private var program: String? {
        let display = HostEnvironment.variable("WAYLAND_DISPLAY") ?? HostEnvironment.variable("DISPLAY")
        guard display != nil || StandardStreams.terminalName != nil else { return nil }
        return (pinentry.map { [$0] } ?? Pinentry.paths).first(where: SpokenProgram.isThere)
    }

    private func withdrawAll(of asker: String) {
        for (key, task) in questions where key.asker == asker { task.cancel() }
    }

    // Who started it on a terminal wants it there.
    private func waitForIdleness() {
        guard questions.isEmpty, StandardStreams.terminalName == nil else { return }
        let loop = BrokerActor.shared.loop
        idle = loop.timer(at: loop.now() + Self.idleMicroseconds) { [weak self] in
            BrokerActor.start { await self?.leave() }
        }
    }

    // The bus starts another one for whoever asks after the name was given back; who asked before is here by then.
    private func leave() async {
        guard questions.isEmpty else { return }
        try? await connection.releaseName(Self.name)
        guard !questions.isEmpty else {
            connection.flush()
            return BrokerActor.shared.loop.stop()
        }
        do throws(BusError) {
            try await connection.requestName(Self.name)
        } catch {
            StandardError.write(line: "chatelaine-prompter: the name cannot be had again: \(error.message)")
        }
    }
}

extension BusError {
    fileprivate static let notTheBroker = BusError(
        name: "org.freedesktop.DBus.Error.AccessDenied", message: "The credential broker alone asks here.")
    static let nobodyToAsk = BusError(
        name: "org.chatelaine.Prompter1.Error.NobodyToAsk",
        message: "No pinentry can show itself here; 'chatelaine unlock' unlocks the keychain.")
}
