internal import BrokerModel
internal import SDBus
internal import Sodium

/// The prompts of all connections. They are performed one after the other, so that a person has one dialog at a time, and
/// what one of them has opened the next does not ask for again.
@BrokerActor final class Prompts {
    /// What a prompt is for: true where it was done, nothing where the person did not want to.
    typealias Work = @BrokerActor (_ window: String, _ prompter: any Prompter) async -> Bool

    private final class Prompt {
        let owner: String
        let work: Work
        let results: (done: Variant, dismissed: Variant)
        var window = ""
        var isAsked = false
        var task: Task<Void, Never>?

        init(_ owner: String, _ work: @escaping Work, _ results: (done: Variant, dismissed: Variant)) {
            self.owner = owner
            self.work = work
            self.results = results
        }
    }

    let prompter: any Prompter
    private let connection: Connection
    private var prompts: [String: Prompt] = [:]
    private var queue: [String] = []
    private var current: String?
    private var next: UInt64 = 1

    private static let perConnectionMax = 64

    init(_ connection: Connection, _ prompter: any Prompter) {
        self.connection = connection
        self.prompter = prompter
    }

    func contains(_ path: String) -> Bool { prompts[path] != nil }

    /// A prompt for the connection. `results` go with Completed.
    func add(
        for owner: String, results: (done: Variant, dismissed: Variant), _ work: @escaping Work
    ) throws(BusError) -> ObjectPath {
        guard prompts.values.count(where: { $0.owner == owner }) < Self.perConnectionMax else {
            throw BusError(
                name: "org.freedesktop.DBus.Error.LimitsExceeded",
                message: "A connection has 64 prompts at most; perform or dismiss one.")
        }
        let path = "\(SecretServiceName.prompts)/p\(next)"
        next += 1
        prompts[path] = Prompt(owner, work, results)
        return ObjectPath(path)
    }

    func perform(_ path: String, owner: String, window: String) throws(BusError) {
        let prompt = try own(path, owner)
        guard !prompt.isAsked else { throw .failed("The prompt is being performed.") }
        prompt.isAsked = true
        prompt.window = window
        queue.append(path)
        performNext()
    }

    /// Withdraws the question, if one is open, and says that the prompt was dismissed.
    func dismiss(_ path: String, owner: String) throws(BusError) {
        let prompt = try own(path, owner)
        prompt.task?.cancel()
        complete(path, isDone: false)
    }

    /// The connection is gone, and its questions with it.
    func forget(_ owner: String) {
        for (path, prompt) in prompts where prompt.owner == owner {
            prompt.task?.cancel()
            prompts[path] = nil
        }
    }

    private func own(_ path: String, _ owner: String) throws(BusError) -> Prompt {
        guard let prompt = prompts[path], prompt.owner == owner else { throw .noSuchObject }
        return prompt
    }

    private func performNext() {
        while current == nil, let path = queue.first {
            queue.removeFirst()
            guard let prompt = prompts[path] else { continue }
            current = path
            prompt.task = BrokerActor.start {
                let isDone = await prompt.work(prompt.window, self.prompter)
                self.complete(path, isDone: isDone)
                self.current = nil
                self.performNext()
            }
        }
    }

    // The object is gone before anybody hears of it: whoever does may look.
    private func complete(_ path: String, isDone: Bool) {
        guard let prompt = prompts.removeValue(forKey: path) else { return }
        do throws(BusError) {
            try connection.emit(
                signal: "Completed", interface: SecretServiceName.prompt, path: path, to: prompt.owner,
                !isDone,
                isDone ? prompt.results.done : prompt.results.dismissed)
        } catch {
            BusLog.sink("signal not sent: \(error.name)")
        }
    }
}
