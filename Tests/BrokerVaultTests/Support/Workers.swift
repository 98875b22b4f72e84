import BrokerModel
import SDBus

/// Does the work where it was asked for.
struct InlineWorker: BlockingWorker {
    func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result { body() }
}

/// Does the work on a thread of its own, as the daemon does.
struct ThreadWorker: BlockingWorker {
    private let thread = WorkThread(name: "store")

    func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await thread.run(body)
    }
}

/// Counts its jobs, and holds them back when it is told to. A held job has not begun.
actor HeldWorker: BlockingWorker {
    private(set) var jobs = 0
    private var isHolding = false
    private var held: [CheckedContinuation<Void, Never>] = []

    func hold() { isHolding = true }

    /// Lets go of the jobs that wait and of those to come.
    func release() {
        isHolding = false
        releaseOnce()
    }

    /// Lets go of the jobs that wait, and holds the next ones.
    func releaseOnce() {
        for job in held { job.resume() }
        held = []
    }

    private func pass() async {
        jobs += 1
        if isHolding { await withCheckedContinuation { held.append($0) } }
    }

    nonisolated func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await pass()
        return body()
    }
}
