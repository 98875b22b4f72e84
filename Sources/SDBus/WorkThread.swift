internal import Glibc

/// One thread with a queue, for work that blocks: a disk flush, a key derivation. It takes jobs in order.
///
/// The thread ends when the last reference is gone and the queue is empty.
public final class WorkThread: Sendable {
    private let queue = WorkQueue()

    /// The name, up to 15 bytes, is what `ps` and debuggers show.
    public init(name: String) {
        let queue = queue
        let started = Threads.spawn(name: name) { queue.work() }
        precondition(started, "no thread for \(name)")
    }

    deinit {
        queue.finish()
    }

    /// Runs `body` on the thread and resumes the caller on its own executor with the result.
    public func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            queue.append { continuation.resume(returning: body()) }
        }
    }

    /// Queues `body` on the thread and does not wait for it.
    public func post(_ body: @escaping @Sendable () -> Void) { queue.append(body) }
}

/// The queue that a work thread sleeps on.
@safe private final class WorkQueue: @unchecked Sendable {
    // Sendable holds because `jobs` and `isFinished` are touched only under `mutex`.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let filled: UnsafeMutablePointer<pthread_cond_t>
    private var jobs: [@Sendable () -> Void] = []
    private var isFinished = false

    init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(mutex, nil)
        unsafe filled = .allocate(capacity: 1)
        unsafe filled.initialize(to: pthread_cond_t())
        unsafe pthread_cond_init(filled, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(filled)
        unsafe filled.deallocate()
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    func append(_ job: @escaping @Sendable () -> Void) {
        unsafe pthread_mutex_lock(mutex)
        jobs.append(job)
        unsafe pthread_cond_signal(filled)
        unsafe pthread_mutex_unlock(mutex)
    }

    func finish() {
        unsafe pthread_mutex_lock(mutex)
        isFinished = true
        unsafe pthread_cond_signal(filled)
        unsafe pthread_mutex_unlock(mutex)
    }

    func work() {
        while let batch = next() {
            for job in batch { job() }
        }
    }

    private func next() -> [@Sendable () -> Void]? {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while jobs.isEmpty && !isFinished {
            unsafe pthread_cond_wait(filled, mutex)
        }
        if jobs.isEmpty { return nil }
        let batch = jobs
        jobs = []
        return batch
    }
}
