internal import Glibc

/// One thread with a queue, for work that blocks: a disk flush, a key derivation. It takes jobs in order.
///
/// The thread begins with the first job, and ends when the last reference is gone and the queue is empty. Where the
/// system has no thread to give, a job runs on the thread that asks for it.
public final class WorkThread: Sendable {
    private let queue: WorkQueue

    /// The name, up to 15 bytes, is what `ps` and debuggers show.
    public init(name: String) { queue = WorkQueue(name) }

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
    // Sendable holds because `jobs`, `hasThread` and `isFinished` are touched only under `mutex`.
    private let name: String
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let filled: UnsafeMutablePointer<pthread_cond_t>
    private var jobs: [@Sendable () -> Void] = []
    private var hasThread = false
    private var isFinished = false

    init(_ name: String) {
        self.name = name
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
        let needsThread = !hasThread
        hasThread = true
        unsafe pthread_cond_signal(filled)
        unsafe pthread_mutex_unlock(mutex)
        if needsThread && !Threads.spawn(name: name, { self.work() }) { workHere() }
    }

    // Somebody waits for each job, so it is late rather than never. The next one asks for a thread again.
    private func workHere() {
        unsafe pthread_mutex_lock(mutex)
        hasThread = false
        let batch = jobs
        jobs = []
        unsafe pthread_mutex_unlock(mutex)
        for job in batch { job() }
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
