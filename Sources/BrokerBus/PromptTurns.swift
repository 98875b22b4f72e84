public import SDBus

/// One question to the person at a time, in the order that they came: what the person sees is what it is asked for, also
/// where one service tells it and another one asks.
@BrokerActor public final class PromptTurns {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Nobody asks so far.
    public init() {}

    /// Runs the question when those before it have ended. One whose task is cancelled waits no less, and then finds itself
    /// cancelled.
    func run<Answer: Sendable>(_ ask: @BrokerActor () async -> Answer) async -> Answer {
        if isTaken { await withCheckedContinuation { waiting.append($0) } }
        isTaken = true
        defer { pass() }
        return await ask()
    }

    // Whoever is next has it before anybody else can come.
    private func pass() {
        guard !waiting.isEmpty else {
            isTaken = false
            return
        }
        waiting.removeFirst().resume()
    }
}
