internal import BrokerBus
internal import BrokerModel
public import SDBus
internal import Sodium

/// A connection to the broker. Everything about it happens on the broker's loop, which the program runs
/// (``EventLoop/run()``, or ``EventLoop/startThread()``).
///
/// Secrets cross the bus encrypted, in a session that the first call to need one opens. A broker that does not
/// offer it is refused; nothing is ever sent in the clear there. On the direct endpoint, where nobody can listen, they
/// go as they are (INTERFACE, sessions).
@BrokerActor public final class Broker {
    /// The version of this library and of the contract that it speaks.
    public nonisolated static let version = Contract.version

    /// Whether a call may make the broker prompt a person.
    public var allowsInteraction = true

    /// The connection, for what is no part of the contract.
    public let connection: Connection
    var registrations: [Registration] = []
    private var opened: SecretSession?
    private var isOpening = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    /// Whether the broker was started anew since: then it cannot be shown any more what made this connection.
    var isOutlived = false
    /// Where whose broker it is has still to be looked at.
    var unchecked: Endpoint?

    /// Takes a connection that is open.
    public init(_ connection: Connection) {
        self.connection = connection
    }

    /// Connects: to the direct endpoint where the broker has one, else to the bus, for which it waits, blocking. There
    /// the broker itself is met, or started by the bus, with the first call.
    ///
    /// On the system's bus nothing is said to a broker of another user than `chatelaine` or root: `accessDenied`. A
    /// program with raised privileges (set-user-id, set-group-id) ignores what its environment says of addresses.
    public static func connect(to endpoint: Endpoint) throws(ChatelaineError) -> Broker {
        if let connection = DirectSocket.open(endpoint) { return Broker(connection) }
        return try connectToBus(endpoint)
    }

    /// The same past the direct endpoint, for what only a bus knows.
    public static func connectToBus(_ endpoint: Endpoint) throws(ChatelaineError) -> Broker {
        do throws(BusError) {
            switch endpoint {
            case .user: return Broker(try Connection.openUser())
            case .system:
                let broker = Broker(try Connection.openSystem())
                broker.unchecked = endpoint
                return broker
            case .address(let address): return Broker(try Connection.open(address: address))
            }
        } catch {
            throw ChatelaineError(error)
        }
    }

    /// Whether no bus is between this and the broker. An address may lead to either; the direct endpoint gives names of
    /// its own, which no bus gives.
    public var isDirect: Bool { connection.uniqueName?.hasPrefix(":direct.") ?? true }

    /// Ends the connection, and with it the session and the subscription.
    public func close() {
        registrations = []
        connection.close()
    }

    /// How long a call waits for its answer.
    enum Patience {
        /// sd-bus's 25 seconds; minutes for a manager call that may make polkit ask somebody.
        case usual
        /// Minutes where a person may be asked first, else as usual.
        case forPerson
        /// For as long as it takes: a wrong passcode is answered late on purpose.
        case endless
    }

    /// Calls a method of the contract, writes its arguments and reads its reply.
    func call<Value>(
        _ interface: String, _ member: String, _ patience: Patience = .usual, sensitive: Bool = false,
        write: @BrokerActor (inout MessageWriter) throws(BusError) -> Void = { _ throws(BusError) in },
        read: @BrokerActor (inout MessageReader) throws(BusError) -> Value
    ) async throws(ChatelaineError) -> Value {
        try await checkOwner()
        // An administrator may have to type a password first, and so may whoever wants a gated item.
        let mayAsk = patience == .forPerson || interface == Contract.Interface.manager
        let usualMicroseconds: UInt64? = allowsInteraction && mayAsk ? 300_000_000 : nil
        return try await onBus { () async throws(BusError) in
            let reply = try await connection.call(
                Contract.name, path: Contract.path, interface: interface, member: member,
                timeoutMicroseconds: patience == .endless ? .max : usualMicroseconds,
                allowInteraction: allowsInteraction, sensitive: sensitive, write: write)
            return try reply.withReader(read)
        }
    }

    /// The session for secrets, which the first call to need one opens; the others wait for that.
    func session() async throws(ChatelaineError) -> SecretSession {
        while isOpening { await withCheckedContinuation { waiting.append($0) } }
        if let opened { return opened }
        isOpening = true
        defer {
            isOpening = false
            waiting.forEach { $0.resume() }
            waiting = []
        }
        let session = isDirect ? SecretSession(plainAt: Contract.plainSession) : try await encrypted()
        opened = session
        return session
    }

    private func encrypted() async throws(ChatelaineError) -> SecretSession {
        let pair = X25519KeyPair()
        let clientKey = pair.publicKey
        let (brokerKey, path) = try await call(Contract.Interface.items, "OpenSession") {
            (writer) throws(BusError) in
            try writer.append(Contract.Algorithm.x25519.rawValue)
            try writer.variant(clientKey)
        } read: { (reader) throws(BusError) in
            _ = try reader.enter("v", "ay")
            let key = try reader.read([UInt8].self)
            try reader.exit()
            return (key, try reader.read(ObjectPath.self))
        }
        guard let shared = pair.sharedSecret(with: brokerKey) else {
            throw ChatelaineError(.param("The broker's public key is no usable X25519 key."))
        }
        return SecretSession(
            path: path.value, end: .client, sharedSecret: shared, clientKey: clientKey, brokerKey: brokerKey)
    }

    /// Opens a secret of a reply, which must be sealed for that session.
    static func open(_ sealed: SealedSecret, _ session: SecretSession) throws(BusError) -> SharedSecret {
        guard sealed.session.value == session.path else {
            throw BusError(.param("The reply is sealed for another session."))
        }
        do throws(Refusal) {
            return try session.open(sealed)
        } catch {
            throw BusError(error)
        }
    }
}
