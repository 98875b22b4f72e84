/// Lets one at a time through, in the order of asking.
public final class Turns {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Nobody's turn.
    public init() {}

    /// Comes back when it is the caller's turn, who ends it with `pass`.
    public func take() async {
        if isTaken { await withCheckedContinuation { waiting.append($0) } }
        isTaken = true
    }

    /// Gives the turn to the next.
    public func pass() {
        isTaken = !waiting.isEmpty
        if isTaken { waiting.removeFirst().resume() }
    }
}
