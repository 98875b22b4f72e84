/// What a call says of itself beside its arguments; who makes it is proven elsewhere.
public struct CallContext: Sendable {
    /// The connection's unique name on the bus.
    public let connection: String
    /// Whether a gated item may ask a person (the message's ALLOW_INTERACTIVE_AUTHORIZATION flag).
    public let allowsInteraction: Bool
    /// The user that the called object names; nil on the object that is everybody's, which is about the caller's own.
    public let namedUserID: UInt32?

    /// All fields.
    public init(connection: String, allowsInteraction: Bool, namedUserID: UInt32? = nil) {
        self.connection = connection
        self.allowsInteraction = allowsInteraction
        self.namedUserID = namedUserID
    }
}

/// What a step of a call gives: its value at once, or work that must be awaited. A refusal is thrown by
/// either.
public enum Outcome<Value> {
    /// The value; no task was needed.
    case now(Value)
    /// The rest of the call.
    case later(() async throws(Refusal) -> Value)

    /// The value, when it is there.
    public func value() async throws(Refusal) -> Value {
        switch self {
        case .now(let value): value
        case .later(let work): try await work()
        }
    }

    /// The same call with its value in another form.
    public func map<Other>(
        _ transform: @escaping (Value) throws(Refusal) -> Other
    ) throws(Refusal) -> Outcome<Other> {
        switch self {
        case .now(let value): return .now(try transform(value))
        case .later(let work):
            return .later { () async throws(Refusal) in try transform(await work()) }
        }
    }
}
