internal import BrokerModel
internal import SQLite

/// Group commit. A write's body runs where it was called, in a savepoint of a transaction that it may share
/// with others; the flush alone goes to the store thread, and nobody is answered before it is through.
///
/// While a flush runs, writes that arrive wait for the next transaction. Whoever finds nobody at work leads:
/// it runs the bodies of all who wait, flushes, answers them, and hands the lead to the first of those who
/// came meanwhile. A flush that fails is taken back, and each write is tried again alone, so that one that
/// does not fit on the disk cannot take the others down with it.
final class Writer {
    private let database: Database
    private let thread: any BlockingWorker
    private let didCommit: ([Notice]) -> Void
    private var waiting: [Job] = []
    private var isAtWork = false {
        didSet { if isAtWork { mark?.release() } }
    }
    private let mark: ReadMark?

    /// `mark` is held by `prepareRead`, and never while a write is under way.
    init(
        mark: ReadMark?, database: Database, thread: any BlockingWorker,
        didCommit: @escaping ([Notice]) -> Void
    ) {
        self.mark = mark
        self.database = database
        self.thread = thread
        self.didCommit = didCommit
    }

    /// Makes the reads that follow cheaper, until the next write.
    func prepareRead() {
        if !isAtWork { mark?.hold() }
    }

    /// Runs `body` in a transaction and returns its result when that is durable. The body may run more than
    /// once, each time on a database where it has not run yet; it does not suspend.
    ///
    /// With `adopt` the transaction is shared with nobody, and `adopt` runs as soon as it is durable, before
    /// the body of any other write: for changes after which others must use other keys.
    func write<Result>(
        adopt: (() -> Void)? = nil, _ body: @escaping () throws(Refusal) -> (Result, [Notice])
    ) async throws(Refusal) -> Result {
        var result: Result?
        let job = Job(adopt: adopt) { () throws(Refusal) in
            let (value, notices) = try body()
            result = value
            return notices
        }
        await enqueue(job)
        if let refusal = job.refusal { throw refusal }
        guard let result else { throw Refusal(.io, "The store did not take the change.") }
        return result
    }

    /// Copies the log into the file and truncates it, on the store thread while no transaction is open.
    /// False where a reader was in the way, or it failed; then it is for later.
    func truncateLog() async -> Bool {
        let job = Job()
        await enqueue(job)
        return job.refusal == nil
    }

    private func enqueue(_ job: Job) async {
        waiting.append(job)
        if isAtWork {
            let leads = await withCheckedContinuation { job.continuation = $0 }
            guard leads else { return }
        }
        isAtWork = true
        await flush()
        passLead()
    }

    private func passLead() {
        isAtWork = false
        guard let next = waiting.first, let continuation = next.continuation else { return }
        isAtWork = true
        next.continuation = nil
        continuation.resume(returning: true)
    }

    private func flush() async {
        let batch = takeBatch()
        if batch[0].isTruncation {
            await truncate(batch[0])
        } else if let failure = await commit(batch) {
            if batch.count == 1 {
                batch[0].refusal = Refusal(failure)
            } else {
                for job in batch {
                    if let failure = await commit([job]) { job.refusal = Refusal(failure) }
                }
            }
        }
        for job in batch { job.continuation?.resume(returning: false) }
    }

    // The first that waits, which is whoever leads, with those behind it that may share its transaction.
    private func takeBatch() -> [Job] {
        let count = waiting[0].isAlone ? 1 : waiting.prefix { !$0.isAlone }.count
        defer { waiting.removeFirst(count) }
        return Array(waiting.prefix(count))
    }

    private func truncate(_ job: Job) async {
        let handover = Handover(database)
        let outcome = await thread.run { handover.number("PRAGMA wal_checkpoint(TRUNCATE)") }
        if outcome != .success(0) { job.refusal = Refusal(.io, "The log could not be truncated.") }
    }

    // Nil when the batch is durable. Jobs that were refused are told so; they changed nothing.
    private func commit(_ batch: [Job]) async -> SQLiteError? {
        do throws(SQLiteError) {
            try database.execute("BEGIN IMMEDIATE")
            for job in batch { try run(job) }
            if batch.allSatisfy({ $0.refusal != nil }) {
                try database.execute("ROLLBACK")
                return nil
            }
        } catch {
            rollBack()
            return error
        }
        if let failure = await onThread("COMMIT") {
            rollBack()
            return failure
        }
        for job in batch where job.refusal == nil { job.adopt?() }
        didCommit(batch.flatMap { $0.refusal == nil ? $0.notices : [] })
        return nil
    }

    private func run(_ job: Job) throws(SQLiteError) {
        try database.execute("SAVEPOINT write")
        do throws(Refusal) {
            job.refusal = nil
            job.notices = try job.body?() ?? []
        } catch {
            job.refusal = error
            // A failure such as a full disk may have ended the whole transaction by itself.
            guard database.isInTransaction else { throw SQLiteError.lostTransaction }
            try database.execute("ROLLBACK TO write")
        }
        try database.execute("RELEASE write")
    }

    private func rollBack() {
        if database.isInTransaction { try? database.execute("ROLLBACK") }
    }

    private func onThread(_ sql: String) async -> SQLiteError? {
        let handover = Handover(database)
        let outcome = await thread.run { handover.execute(sql) }
        guard case .failure(let error) = outcome else { return nil }
        return error
    }

    private final class Job {
        /// Nil for a truncation of the log.
        let body: (() throws(Refusal) -> [Notice])?
        let adopt: (() -> Void)?
        var notices: [Notice] = []
        var refusal: Refusal?
        var continuation: CheckedContinuation<Bool, Never>?

        init(adopt: (() -> Void)? = nil, _ body: (() throws(Refusal) -> [Notice])? = nil) {
            self.adopt = adopt
            self.body = body
        }

        var isTruncation: Bool { body == nil }
        var isAlone: Bool { isTruncation || adopt != nil }
    }
}
