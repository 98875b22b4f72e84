internal import BrokerBus
internal import BrokerDesk
internal import BrokerModel
internal import SDBus
internal import Sodium

/// The prompts of all connections. They are performed one after the other, so that a person has one dialog at a time, and
/// what one of them has opened the next does not ask for again.
@BrokerActor final class Prompts {
    /// What a prompt asks for. Two of the same program for the same collections are one question.
    struct Subject: Equatable {
        let program: String
        let trust: Trust
        let collections: Set<SecretCollection.ID>
        /// Whether it is for a secret that needs the keychain unlocked, though its collection may be open.
        let needsUnlock: Bool
    }

    /// Who hears how it ended.
    private enum Listener {
        /// The connection that it is a prompt of.
        case connection(done: Variant, dismissed: Variant)
        /// A call that waits for it.
        case call(CheckedContinuation<Bool, Never>)
    }

    private final class Prompt {
        let owner: String
        let subject: Subject
        let listener: Listener
        var window = ""
        var isAsked = false

        init(_ owner: String, _ subject: Subject, _ listener: Listener) {
            self.owner = owner
            self.subject = subject
            self.listener = listener
        }
    }

    let prompter: any Prompter
    /// Opens the collections, or has the person do it: true where a person has answered, whatever the answer.
    var open: @BrokerActor (_ subject: Subject, _ window: String) async -> Bool = { _, _ in false }
    /// Whether what it asks for is open.
    var isOpen: (Subject) -> Bool = { _ in false }
    private let connection: Connection
    private var prompts: [String: Prompt] = [:]
    private var queue: [String] = []
    private var current: (path: String, task: Task<Void, Never>)?
    private var next: UInt64 = 1

    private static let perConnectionMax = 64
    /// No window's name is longer.
    private static let windowBytesMax = 256

    init(_ connection: Connection, _ prompter: any Prompter) {
        self.connection = connection
        self.prompter = prompter
    }

    func contains(_ path: String) -> Bool { prompts[path] != nil }

    /// A prompt for the connection. `results` go with Completed.
    func add(
        for owner: String, _ subject: Subject, results: (done: Variant, dismissed: Variant)
    ) throws(BusError) -> ObjectPath {
        guard prompts.values.count(where: { $0.owner == owner }) < Self.perConnectionMax else {
            throw BusError(
                name: "org.freedesktop.DBus.Error.LimitsExceeded",
                message: "A connection has 64 prompts at most; perform or dismiss one.")
        }
        let path = "\(SecretServiceName.prompts)/p\(next)"
        next += 1
        prompts[path] = Prompt(
            owner, subject, .connection(done: results.done, dismissed: results.dismissed))
        return ObjectPath(path)
    }

    /// Performs in its turn what is no object of the bus, and says whether the collections are open then. `key` is for
    /// ``withdraw(_:)``.
    func ask(for owner: String, as key: String, _ subject: Subject) async -> Bool {
        guard prompts[key] == nil else { return false }
        return await withCheckedContinuation { continuation in
            prompts[key] = Prompt(owner, subject, .call(continuation))
            queue.append(key)
            performNext()
        }
    }

    /// Takes back what ``ask(for:as:_:)`` asks; nothing where it does not.
    func withdraw(_ key: String) { complete(key, isDone: false) }

    func perform(_ path: String, owner: String, window: String) throws(BusError) {
        let prompt = try own(path, owner)
        guard !prompt.isAsked else { throw .failed("The prompt is being performed.") }
        prompt.isAsked = true
        if window.utf8.count <= Self.windowBytesMax { prompt.window = window }
        queue.append(path)
        performNext()
    }

    /// Withdraws the question, if one is open, and says that the prompt was dismissed.
    func dismiss(_ path: String, owner: String) throws(BusError) {
        _ = try own(path, owner)
        complete(path, isDone: false)
    }

    /// The connection is gone, and its questions with it.
    func forget(_ owner: String) {
        for path in prompts.filter({ $0.value.owner == owner }).keys {
            guard case .call(let continuation)? = remove(path)?.listener else { continue }
            continuation.resume(returning: false)
        }
    }

    /// Nobody is asked any more: who waits hears that it was dismissed.
    func close() {
        queue = []
        for path in prompts.keys { complete(path, isDone: false) }
    }

    /// Collections were opened, by whatever way: nobody is asked for them any more.
    func lockingChanged() {
        for path in [current?.path].compactMap({ $0 }) + queue {
            if let prompt = prompts[path], isOpen(prompt.subject) { complete(path, isDone: true) }
        }
    }

    private func own(_ path: String, _ owner: String) throws(BusError) -> Prompt {
        guard let prompt = prompts[path], prompt.owner == owner else { throw .noSuchObject }
        return prompt
    }

    private func performNext() {
        guard current == nil, !queue.isEmpty else { return }
        let path = queue.removeFirst()
        guard let prompt = prompts[path] else { return performNext() }
        let task = BrokerActor.start {
            await self.perform(prompt, at: path)
            self.current = nil
            self.performNext()
        }
        current = (path, task)
    }

    private func perform(_ prompt: Prompt, at path: String) async {
        var isAnswered = false
        if !isOpen(prompt.subject) { isAnswered = await open(prompt.subject, prompt.window) }
        // Dismissed, forgotten, or opened by another way meanwhile.
        guard prompts[path] != nil else { return }
        let isDone = isOpen(prompt.subject)
        complete(path, isDone: isDone)
        guard isAnswered, !isDone else { return }
        // A person who has said no is not asked the same again by who waited behind.
        for other in queue where prompts[other]?.subject == prompt.subject { complete(other, isDone: false) }
    }

    // The object is gone before anybody hears of it: whoever does may look.
    private func complete(_ path: String, isDone: Bool) {
        guard let prompt = remove(path) else { return }
        switch prompt.listener {
        case .call(let continuation): continuation.resume(returning: isDone)
        case .connection(let done, let dismissed):
            do throws(BusError) {
                try connection.emit(
                    signal: "Completed", interface: SecretServiceName.prompt, path: path, to: prompt.owner,
                    !isDone,
                    isDone ? done : dismissed)
            } catch {
                BusLog.sink("signal not sent: \(error.name)")
            }
        }
    }

    // A question that is open for it is withdrawn; one that was answered does not feel it.
    @discardableResult private func remove(_ path: String) -> Prompt? {
        if current?.path == path { current?.task.cancel() }
        return prompts.removeValue(forKey: path)
    }
}
