/// Pauses that last until the test ends them.
@VaultActor final class Pauses {
    var steps: [String] = []
    private var held: [CheckedContinuation<Void, Never>] = []

    func take() async { await withCheckedContinuation { held.append($0) } }

    /// Comes back when a pause has begun.
    func begun() async {
        while held.isEmpty { await Task.yield() }
    }

    /// Ends those that have begun.
    func end() {
        for pause in held { pause.resume() }
        held = []
    }
}
