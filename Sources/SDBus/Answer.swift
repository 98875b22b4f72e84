/// What a handler answers: at once, or when something it has to wait for is done.
///
/// `later` runs on the broker's actor in a task of its own; other calls are served meanwhile, and nothing breaks when
/// the caller is gone before the answer.
public enum Answer<Result: ~Copyable>: ~Copyable {
    /// The reply goes out before the handler's caller goes on.
    case now(Result)
    /// The reply goes out when the closure is done.
    case later(@BrokerActor () async throws(BusError) -> Result)
}

extension Answer: Copyable where Result: Copyable {}
