/// Threads for reads that may never come back, such as a file of a process that is stuck.
///
/// Each body runs on a fresh thread. When its deadline passes the caller goes on without it, and the thread is left
/// to end by itself; so many may be in flight for one key and no more.
public final class DeadlineThreads: Sendable {
    private let limitPerKey: Int
    private let inFlight = Locked<[UInt32: Int]>([:])

    /// `limitPerKey` counts the threads that are still running, the abandoned ones too.
    public init(limitPerKey: Int) {
        self.limitPerKey = limitPerKey
    }

    /// Runs `body` on a fresh thread. Nil when it is late, or at once when the key has its limit in flight or the
    /// system has no thread to give. The deadline runs on the broker's loop.
    public func run<Result: Sendable>(
        key: UInt32 = 0, deadlineMicroseconds: UInt64, _ body: @escaping @Sendable () -> Result
    ) async -> Result? {
        guard admit(key) else { return nil }
        let race = Race<Result>()
        return await withCheckedContinuation { continuation in
            race.begin(continuation)
            let started = Threads.spawn(name: "deadline") {
                let result = body()
                self.leave(key)
                race.finish(result)
            }
            guard started else {
                leave(key)
                return race.finish(nil)
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

    private func admit(_ key: UInt32) -> Bool {
        inFlight.withLock { counts in
            let count = counts[key, default: 0]
            guard count < limitPerKey else { return false }
            counts[key] = count + 1
            return true
        }
    }

    private func leave(_ key: UInt32) {
        inFlight.withLock { counts in
            let left = counts[key, default: 1] - 1
            counts[key] = left > 0 ? left : nil
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
