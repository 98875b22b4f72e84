internal import BrokerModel
public import SDBus

/// One question to the person at a time, in the order that they came: what the person sees is what it is asked for, also
/// where one service tells it and another one asks.
@BrokerActor public final class PromptTurns {
    private let turns = Turns()

    /// Nobody asks so far.
    public init() {}

    /// Runs the question when those before it have ended. One whose task is cancelled waits no less, and then finds itself
    /// cancelled.
    func run<Answer: Sendable>(_ ask: @BrokerActor () async -> Answer) async -> Answer {
        await turns.take()
        defer { turns.pass() }
        return await ask()
    }
}
