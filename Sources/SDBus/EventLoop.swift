internal import CSystemd
internal import Glibc
internal import Synchronization

/// An sd-event loop that runs Swift's jobs: the executor of `BrokerActor`.
///
/// A job from the loop's own thread costs no system call; one from elsewhere costs one eventfd write when the
/// inbox was empty.
@safe public final class EventLoop: SerialExecutor, TaskExecutor {
    /// Rounds of jobs before the bus gets its turn, so that chains of hops starve nobody.
    private static let roundsMax = 64

    // Set in init and never again; what it points to is used on the loop's thread only.
    nonisolated(unsafe) let event: OpaquePointer
    private let wakeFD: Int32
    private let owner = Atomic<UInt>(0)
    private let stopping = Atomic<Bool>(false)
    private let isLent = Atomic<Bool>(false)
    private let endedFD: Int32
    private let exitCode = Atomic<Int32>(0)
    private let inbox = Locked<[UnownedJob]>([])
    // Touched on the loop's thread only: `enqueue` looks at `isCurrent` first.
    nonisolated(unsafe) private var local: [UnownedJob] = []
    nonisolated(unsafe) private var spare: [UnownedJob] = []
    // The same; sources that live as long as the loop.
    nonisolated(unsafe) var kept: [EventSource] = []

    init() {
        var created: OpaquePointer?
        let result = unsafe sd_event_new(&created)
        let descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        let ended = eventfd(0, Int32(EFD_CLOEXEC))
        guard let event = unsafe created, result >= 0, descriptor >= 0, ended >= 0 else {
            preconditionFailure("no event loop can be made, error \(result)")
        }
        unsafe self.event = event
        wakeFD = descriptor
        endedFD = ended
        unsafe sd_event_add_io(
            event, nil, descriptor, EPOLLIN.rawValue,
            { _, _, _, loop in
                unsafe Unmanaged<EventLoop>.fromOpaque(loop!).takeUnretainedValue().takeInbox()
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
        openClocks()
    }

    deinit {
        unsafe sd_event_unref(event)
        close(wakeFD)
        close(endedFD)
    }

    /// True on the thread that is inside `run()`.
    public var isCurrent: Bool {
        owner.load(ordering: .acquiring) == UInt(pthread_self())
    }

    /// Lends the calling thread to the loop until `stop` is called. Answers with the code given there, or with
    /// a negative errno when the loop itself failed. Where another thread runs the loop already, it waits for that.
    public func run() -> Int32 {
        if isLent.exchange(true, ordering: .acquiringAndReleasing) { return waitForEnd() }
        return turn()
    }

    private func turn() -> Int32 {
        defer { writeOne(endedFD) }
        owner.store(UInt(pthread_self()), ordering: .releasing)
        while !stopping.load(ordering: .acquiring) {
            drain()
            let result = unsafe sd_event_run(event, local.isEmpty ? UInt64.max : 0)
            if result < 0 {
                exitCode.store(result, ordering: .releasing)
                return result
            }
        }
        return exitCode.load(ordering: .acquiring)
    }

    private func waitForEnd() -> Int32 {
        var count: UInt64 = 0
        while unsafe read(endedFD, &count, 8) < 0 && errno == EINTR {}
        // For the next one who waits.
        writeOne(endedFD)
        return exitCode.load(ordering: .acquiring)
    }

    /// Ends `run()` after the job that is running now. Callable on any thread.
    public func stop(code: Int32 = 0) {
        exitCode.store(code, ordering: .releasing)
        stopping.store(true, ordering: .releasing)
        wake()
    }

    /// Runs the loop on a thread of its own, which is how tests and client programs use it. Does nothing where a
    /// thread runs it already.
    public func startThread() {
        if isLent.exchange(true, ordering: .acquiringAndReleasing) { return }
        let started = Threads.spawn(name: "loop") { _ = self.turn() }
        precondition(started, "no thread for the loop")
    }

    /// Where Swift puts the actor's jobs.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isCurrent {
            unsafe local.append(job)
            return
        }
        let wasEmpty = inbox.withLock { jobs in
            jobs.append(job)
            return jobs.count == 1
        }
        if wasEmpty { wake() }
    }

    /// This loop, for Swift's runtime.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }

    /// This loop, for tasks that prefer it.
    public func asUnownedTaskExecutor() -> UnownedTaskExecutor {
        unsafe UnownedTaskExecutor(ordinary: self)
    }

    /// Stops the program when it is called off the loop's thread.
    public func checkIsolated() {
        precondition(isCurrent, "not on the broker's loop")
    }

    /// True on the loop's thread.
    public func isIsolatingCurrentContext() -> Bool? {
        isCurrent
    }

    private func drain() {
        for _ in 0..<Self.roundsMax where unsafe !local.isEmpty {
            unsafe swap(&local, &spare)
            for job in unsafe spare {
                unsafe job.runSynchronously(
                    isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
            }
            unsafe spare.removeAll(keepingCapacity: true)
        }
    }

    private func takeInbox() {
        var count: UInt64 = 0
        unsafe read(wakeFD, &count, 8)
        inbox.withLock { jobs in
            unsafe local.append(contentsOf: jobs)
            jobs.removeAll(keepingCapacity: true)
        }
    }

    private func wake() { writeOne(wakeFD) }

    private func writeOne(_ descriptor: Int32) {
        var one: UInt64 = 1
        unsafe write(descriptor, &one, 8)
    }

    // A clock's descriptor is made with its first timer: making all three now means that running out of
    // descriptors later cannot cost us a timer.
    private func openClocks() {
        for clock in [EventClock.monotonic, .boottime, .realtime] {
            var source: OpaquePointer?
            unsafe sd_event_add_time(event, &source, clock.id, .max, 0, { _, _, _ in 0 }, nil)
            _ = unsafe sd_event_source_unref(source)
        }
    }
}
