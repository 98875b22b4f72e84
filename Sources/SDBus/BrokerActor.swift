/// The one global actor: everything that may change lives on it, and it runs on the thread of its event loop.
@globalActor public actor BrokerActor {
    /// The actor itself.
    public static let shared = BrokerActor()

    /// The loop that runs the actor's jobs. Whoever calls `loop.run()` lends it the thread.
    public nonisolated let loop = EventLoop()

    /// Jobs go to the loop and never through the pool.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe loop.asUnownedSerialExecutor()
    }

    /// Runs `body` at once, without a hop. The caller must be on the loop's thread already: C callbacks are.
    @inline(__always)
    public static func assumeIsolated<Result: ~Copyable, Failure: Error>(
        _ body: @BrokerActor () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(shared.loop.isCurrent, "not on the broker's loop")
        typealias Plain = () throws(Failure) -> Result
        return try withoutActuallyEscaping(body) { (body) throws(Failure) -> Result in
            // Isolation is no part of a function's representation, so the two types have one layout.
            try unsafe unsafeBitCast(body, to: Plain.self)()
        }
    }

    /// Starts a task on the actor that prefers the loop for everything it awaits too.
    ///
    /// A bare `Task` would pass every resume through a pool thread first, and stall when the pool is busy.
    @discardableResult
    public static func start<Success: Sendable>(
        _ body: @escaping @BrokerActor () async -> Success
    ) -> Task<Success, Never> {
        Task(executorPreference: shared.loop) { await body() }
    }
}
