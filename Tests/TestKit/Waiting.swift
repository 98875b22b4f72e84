/// Runs `body` and throws when it takes longer than that: a test fails with the name of what it waited for, and never
/// hangs. What is late is left behind.
public func within<Result: Sendable>(
    _ what: String, deadline: Duration = .seconds(60), _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    typealias Outcome = Swift.Result<Result, any Error>
    let (outcomes, outcome) = AsyncStream<Outcome>.makeStream()
    let work = Task {
        do {
            outcome.yield(.success(try await body()))
        } catch {
            outcome.yield(.failure(error))
        }
    }
    let limit = Task {
        try await Task.sleep(for: deadline)
        outcome.yield(.failure(TestFailure("waited \(deadline) in vain for: \(what)")))
    }
    defer {
        work.cancel()
        limit.cancel()
    }
    for await first in outcomes { return try first.get() }
    throw CancellationError()
}

/// Waits until the condition holds, for what tells nobody when it changes. Await the event where there is one.
public func waitUntil(
    _ what: String, deadline: Duration = .seconds(60),
    _ condition: @escaping @Sendable () async throws -> Bool
) async throws {
    try await within(what, deadline: deadline) {
        while try await !condition() {
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}

/// Carries events from handlers to the one test that waits for them, in order.
public final class Mailbox<Value: Sendable>: Sendable {
    private let continuation: AsyncStream<Value>.Continuation
    private let box: Box

    // The iterator is used by one caller at a time: the actor's state is taken out while it is.
    private actor Box {
        var iterator: AsyncStream<Value>.Iterator?

        init(_ stream: AsyncStream<Value>) {
            iterator = stream.makeAsyncIterator()
        }

        func next() async throws -> Value {
            guard var taken = iterator else { throw TestFailure("two callers wait at one mailbox") }
            iterator = nil
            defer { iterator = taken }
            guard let value = await taken.next(isolation: self) else { throw CancellationError() }
            return value
        }
    }

    /// An empty one.
    public init() {
        let (stream, continuation) = AsyncStream<Value>.makeStream()
        self.continuation = continuation
        box = Box(stream)
    }

    /// Puts an event in. Callable from anywhere.
    public func post(_ value: Value) {
        continuation.yield(value)
    }

    /// The next event, which it waits for.
    public func next(_ what: String, deadline: Duration = .seconds(60)) async throws -> Value {
        let box = box
        return try await within(what, deadline: deadline) { try await box.next() }
    }
}
