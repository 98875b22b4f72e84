/// Threads for reads that may never come back, such as a file of a process that is stuck.
///
/// Each body runs on a fresh thread. When its deadline passes the caller goes on without it, and the thread is left
/// to end by itself; so many may be in flight for one key and no more.
public final class DeadlineThreads: Sendable {
    private struct Lane {
        var running = 0
        var waiting: [@Sendable () -> Bool] = []
    }

    private let limitPerKey: Int
    private let lanes = Locked<[UInt32: Lane]>([:])

    /// `limitPerKey` counts the threads that are still running, the abandoned ones too.
    public init(limitPerKey: Int) {
        self.limitPerKey = limitPerKey
    }

    /// Runs `body` on a fresh thread. While the key has its limit in flight, it waits for one of those to end. Nil
    /// when the deadline passes first, which runs on the broker's loop, or the system has no thread to give.
    public func run<Result: Sendable>(
        key: UInt32 = 0, deadlineMicroseconds: UInt64, _ body: @escaping @Sendable () -> Result
    ) async -> Result? {
        let race = Race<Result>()
        return await withCheckedContinuation { continuation in
            race.begin(continuation)
            enter(key) { [self] in
                // Whoever gave up while it waited has nobody to read for.
                guard !race.isOver else { return false }
                let started = Threads.spawn(name: "deadline") {
                    let result = body()
                    self.leave(key)
                    race.finish(result)
                }
                if !started { race.finish(nil) }
                return started
            }
            race.limit(
                BrokerActor.start {
                    do throws(CancellationError) {
                        try await BrokerActor.shared.loop.sleep(microseconds: deadlineMicroseconds)
                        race.finish(nil)
                    } catch {}
                })
        }
    }

    private func enter(_ key: UInt32, _ start: @escaping @Sendable () -> Bool) {
        let mayStart = lanes.withLock { lanes in
            guard lanes[key, default: Lane()].running < limitPerKey else {
                lanes[key]?.waiting.append(start)
                return false
            }
            lanes[key, default: Lane()].running += 1
            return true
        }
        if mayStart && !start() { leave(key) }
    }

    // The place of a thread that ends goes to the first that still waits.
    private func leave(_ key: UInt32) {
        while true {
            let next = lanes.withLock { lanes -> (@Sendable () -> Bool)? in
                guard var lane = lanes[key] else { return nil }
                let next = lane.waiting.isEmpty ? nil : lane.waiting.removeFirst()
                if next == nil { lane.running -= 1 }
                lanes[key] = lane.running > 0 ? lane : nil
                return next
            }
            guard let next else { return }
            if next() { return }
        }
    }
}

/// The first to finish resumes the caller; the second does nothing.
private final class Race<Result: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Result?, Never>?
        var deadline: Task<Void, Never>?
    }

    private let state = Locked(State())

    func begin(_ continuation: CheckedContinuation<Result?, Never>) {
        state.withLock { $0.continuation = continuation }
    }

    var isOver: Bool { state.withLock { $0.continuation == nil } }

    func limit(_ deadline: Task<Void, Never>) {
        let isOver = state.withLock { state in
            state.deadline = deadline
            return state.continuation == nil
        }
        if isOver { deadline.cancel() }
    }

    func finish(_ result: Result?) {
        let (continuation, deadline) = state.withLock { state in
            defer { state = State() }
            return (state.continuation, state.deadline)
        }
        continuation?.resume(returning: result)
        deadline?.cancel()
    }
}
