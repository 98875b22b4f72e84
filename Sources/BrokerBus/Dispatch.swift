internal import BrokerModel
internal import SDBus
internal import Sodium

/// What every method of the contract needs: who calls, the caller's sessions, the way from an outcome to a
/// reply.
@BrokerActor struct Dispatch {
    let service: any BrokerService
    let sessions: SessionTable
    let calls = WaitingCalls()
    /// The one caller of a direct connection.
    let peer: String?
    /// Whether the objects that are called name the user whose keychain they are about.
    var namesUser = false

    func context(_ call: borrowing Call) throws(BusError) -> CallContext {
        guard let sender = peer ?? call.sender else { throw BusError(.nobody) }
        return CallContext(
            connection: sender, allowsInteraction: call.allowsInteraction,
            namedUserID: namesUser ? Contract.userID(ofObject: call.path) : nil)
    }

    /// Who reads a property; nil where its value goes to everybody.
    func context(_ call: borrowing PropertyCall) -> CallContext? {
        guard let sender = peer ?? call.sender else { return nil }
        return CallContext(
            connection: sender, allowsInteraction: false,
            namedUserID: namesUser ? Contract.userID(ofObject: call.path) : nil)
    }

    func session(_ path: ObjectPath, _ context: CallContext) throws(BusError) -> SecretSession {
        try onWire { () throws(Refusal) in try sessions.session(path.value, owner: context.connection) }
    }

    func open(_ attributes: WireAttributes, _ context: CallContext) throws(BusError) -> WireDictionary {
        try onWire { () throws(Refusal) in try attributes.opened(sessions, owner: context.connection) }
    }

    /// Opens a secret; one above `limit` is `TooLarge`, after its nonce is spent.
    func open(
        _ sealed: SealedSecret, _ context: CallContext, limit: Int = Limits.secretBytesMax
    ) throws(BusError) -> SharedSecret {
        try onWire { () throws(Refusal) in
            let session = try sessions.session(sealed.session.value, owner: context.connection)
            let opened = try session.open(sealed)
            guard opened.secret.count <= limit else {
                throw Refusal(.tooLarge, "A secret has 1 MiB at most, and a passcode 1 KiB.")
            }
            return opened
        }
    }

    /// Answers a call, unless its connection has too many waiting already.
    func answer<Value, Result>(
        _ context: CallContext, _ body: () throws(Refusal) -> Outcome<Value>,
        _ encode: @escaping (Value) -> Result
    ) throws(BusError) -> Answer<Result> {
        let outcome = try onWire { () throws(Refusal) in
            try calls.checkRoom(for: context.connection)
            return try body()
        }
        switch outcome {
        case .now(let value): return .now(encode(value))
        case .later(let work):
            calls.begin(context.connection)
            return .later { () async throws(BusError) in
                defer { calls.end(context.connection) }
                do throws(Refusal) {
                    return encode(try await work())
                } catch {
                    throw BusError(error)
                }
            }
        }
    }
}

extension Refusal {
    static let nobody = Refusal(.identityUnavailable, "The caller's connection could not be identified.")
}
