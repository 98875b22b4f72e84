public import BrokerBus
public import BrokerDesk
internal import BrokerModel
public import SDBus

/// `org.freedesktop.secrets` on a session bus: objects, sessions, prompts, signals.
///
/// Signals go to each connection that has called, and of what it sees alone: a broadcast would tell everybody what there
/// is.
@BrokerActor public final class SecretServiceFront {
    let connection: Connection
    let desk: SecretServiceDesk
    let sessions: SecretServiceSessions
    let prompts: Prompts
    let portalRequests = PortalRequests()
    let calls = WaitingCalls()
    private(set) var audience: Set<String> = []
    private var registrations: [Registration] = []

    /// Exports the objects; the name is the caller's to ask for. `offersEncryption` is no for tests of clients alone.
    public init(
        _ connection: Connection, desk: SecretServiceDesk, prompter: any Prompter,
        offersEncryption: Bool = true
    ) throws(BusError) {
        self.connection = connection
        self.desk = desk
        sessions = SecretServiceSessions(offersEncryption: offersEncryption)
        prompts = Prompts(connection, prompter)
        try export()
        prompts.open = { [weak self] in await self?.open($0, $1) ?? false }
        prompts.isOpen = { [weak self] in self?.isOpen($0) ?? false }
        desk.observe(
            changed: { [weak self] in self?.lockingChanged($0) },
            emptied: { [weak self] in self?.emptied($0) },
            imported: { [weak self] in self?.tell($0) })
    }

    private func export() throws(BusError) {
        let (collection, item, properties) = (collectionInterface(), itemInterface(), propertiesInterface())
        registrations = [
            try connection.overlay(properties, prefix: SecretServiceName.root),
            try connection.export([serviceInterface()], at: SecretServiceName.root),
            try connection.export([portalInterface()], at: PortalName.object),
            try connection.exportFallback(
                portalRequestInterface(), prefix: PortalName.requests,
                find: { [portalRequests] in portalRequests.contains($0) }),
            try connection.exportFallback(
                sessionInterface(), prefix: SecretServiceName.sessions,
                find: { [sessions] in sessions.contains($0) }),
            try connection.exportFallback(
                promptInterface(), prefix: SecretServiceName.prompts,
                find: { [prompts] in prompts.contains($0) }),
        ]
        // Every path of the right form looks alike until it is called: what is there is said to who may see it.
        for prefix in [SecretServiceName.collections, SecretServiceName.aliases] {
            registrations += [
                // Nearer prefixes are asked before farther ones.
                try connection.overlay(properties, prefix: prefix),
                try connection.exportFallback(
                    collection, prefix: prefix, find: { SecretPath($0)?.collection != nil },
                    nodes: { [weak self] in self?.nodes($0) ?? [] }),
                try connection.exportFallback(item, prefix: prefix, find: { SecretPath($0)?.item != nil }),
            ]
        }
    }

    private func nodes(_ call: borrowing PropertyCall) -> [String] {
        guard let sender = call.sender else { return [] }
        return collections(seenBy: sender).map(\.path.value)
    }

    /// The collections that a connection sees whose program is known; none for another.
    func collections(seenBy connection: String) -> [SecretCollection] {
        let context = CallContext(connection: connection, allowsInteraction: false)
        guard desk.isKnown(connection), case .now(let found)? = try? desk.collections(context) else {
            return []
        }
        return found
    }

    /// The connection is gone: nothing is kept of it.
    public func connectionGone(_ name: String) {
        audience.remove(name)
        sessions.forget(name)
        prompts.forget(name)
        desk.forget(name)
    }

    /// Takes the objects away, and withdraws what a person is asked. Whoever drops the front calls this before: the objects
    /// hold on to it.
    public func close() {
        registrations = []
        prompts.close()
    }

    func context(_ call: borrowing Call) throws(BusError) -> CallContext {
        guard let sender = call.sender else { throw .failed("The caller has no name.") }
        audience.insert(sender)
        return CallContext(connection: sender, allowsInteraction: call.allowsInteraction)
    }

    /// Answers a call, unless its connection has too many waiting already. `encode` runs when the work is done, before
    /// the reply goes out.
    func answer<Value, Result>(
        _ context: CallContext, _ body: () throws(Refusal) -> Outcome<Value>,
        _ encode: @escaping @BrokerActor (Value) throws(BusError) -> Result
    ) throws(BusError) -> Answer<Result> {
        let outcome = try inSecretService { () throws(Refusal) in
            try calls.checkRoom(for: context.connection)
            return try body()
        }
        switch outcome {
        case .now(let value): return .now(try encode(value))
        case .later(let work):
            calls.begin(context.connection)
            return .later { () async throws(BusError) in
                defer { self.calls.end(context.connection) }
                let value: Value
                do throws(Refusal) {
                    value = try await work()
                } catch {
                    throw BusError(secretService: error)
                }
                return try encode(value)
            }
        }
    }

    func collectionAddress(_ call: borrowing Call) throws(BusError) -> SecretCollection.Address {
        guard let address = SecretPath(call.path)?.collection else { throw .noSuchObject }
        return address
    }

    func itemAddress(_ call: borrowing Call) throws(BusError) -> SecretItem.Address {
        guard let address = SecretPath(call.path)?.item else { throw .noSuchObject }
        return address
    }
}
