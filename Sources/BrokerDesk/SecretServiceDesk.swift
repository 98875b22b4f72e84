internal import BrokerGate
public import BrokerModel
internal import BrokerPeers
internal import BrokerPolicy
internal import BrokerVault
public import SDBus
internal import Sodium

/// What `org.freedesktop.secrets` asks of the desk: collections and items on the same gate and vault as the contract's own.
///
/// A collection that a client locked is closed for everybody until the person opens it. That is kept in memory: a broker
/// that starts anew is before the first unlock, or has no passcode to ask for.
@BrokerActor public final class SecretServiceDesk {
    let desk: Desk
    let memory = MemoryCollection()
    /// Of those who say what collections are called: two who want the same alias get the same collection.
    let namers = Turns()
    private let builtIn: Set<SecretCollection.ID>
    private var closed: Set<SecretCollection.ID> = []
    /// Connections that could not write a secret, since the keychain is locked. Each will ask for its collection to be
    /// unlocked, as clients do, and means the keychain then.
    private var refusedWriters: Set<String> = []
    private var changed: (Set<SecretCollection.ID>?) -> Void = { _ in }
    private var emptied: (AccessGroup) -> Void = { _ in }
    private var imported: (Arrival) -> Void = { _ in }

    /// `builtIn`: the collections that are there without having been made.
    public init(_ desk: Desk, builtIn: Set<SecretCollection.ID> = [.login, .session]) {
        self.desk = desk
        self.builtIn = builtIn
        desk.secretService = self
    }

    /// What an administrator has brought in.
    public enum Arrival {
        /// A collection that was not there.
        case collection(SecretCollection)
        /// An item that was not there.
        case item(SecretItem)
        /// An item that was there and has another secret now.
        case changedItem(SecretItem)
    }

    /// `changed` hears which collections were opened or closed by others than the front, nil for all; `emptied` hears of
    /// groups that were logged out, `imported` of what was brought in.
    public func observe(
        changed: @escaping (Set<SecretCollection.ID>?) -> Void, emptied: @escaping (AccessGroup) -> Void,
        imported: @escaping (Arrival) -> Void
    ) {
        self.changed = changed
        self.emptied = emptied
        self.imported = imported
    }

    func arrived(_ arrival: Arrival) { imported(arrival) }

    /// What the vault tells of, after its commit.
    func note(_ notice: Notice) {
        switch notice {
        case .lockStateChanged:
            refusedWriters = []
            changed(nil)
        case .loggedOut(let group, let service, _, _):
            guard service.isEmpty else { return }
            memory.remove(group)
            emptied(group)
        case .itemChanged, .refreshNeeded: break
        }
    }

    /// The connection is gone.
    public func forget(_ connection: String) { refusedWriters.remove(connection) }

    /// Whether the connection wanted to write what the locked keychain did not take.
    func isRefusedWriter(_ connection: String) -> Bool { refusedWriters.contains(connection) }

    /// Writes for a caller, and keeps in mind whom the locked keychain has refused.
    func writing<Value>(
        _ caller: Caller, _ body: () async throws(Refusal) -> Value
    ) async throws(Refusal) -> Value {
        do throws(Refusal) {
            return try await body()
        } catch {
            if error.kind == .interactionNotAllowed && desk.vault.state == .locked {
                refusedWriters.insert(caller.connection)
            }
            throw error
        }
    }

    /// Whether it is proven who is behind the connection.
    public func isKnown(_ connection: String) -> Bool { desk.isKnown(connection) }

    /// Whether the connection sees what is in the group.
    public func sees(_ group: AccessGroup, _ connection: String) -> Bool {
        guard let caller = desk.peers.known(connection) else { return false }
        return desk.gate.seesInSecretService(group, caller)
    }

    /// Whether the policy lets everybody see everything, as other keyrings do.
    public var isShared: Bool { desk.gate.policy.secretService.isolation == .none }

    /// Who asks, for a person to read; nil for a connection that is gone.
    public func program(_ connection: String) -> (name: String, trust: Trust)? {
        guard let caller = desk.peers.known(connection) else { return nil }
        return (desk.gate.applicationName(of: caller), desk.gate.entitlements(of: caller).trust)
    }

    /// Leave to act on what a caller sees here.
    typealias Leave = (_ group: AccessGroup?) throws(Refusal) -> Grant

    /// Carries on with a proven caller.
    func with<Value>(
        _ context: CallContext, _ operations: [Operation],
        _ body: @escaping (Caller, @escaping Leave) throws(Refusal) -> Outcome<Value>
    ) throws(Refusal) -> Outcome<Value> {
        try desk.withCaller(context) { (caller) throws(Refusal) in
            try body(caller) { (group) throws(Refusal) in try self.leave(caller, operations, group) }
        }
    }

    func leave(
        _ caller: Caller, _ operations: [Operation], _ group: AccessGroup?
    ) throws(Refusal) -> Grant {
        try desk.gate.grantForSecretService(caller, operations, in: group) { () throws(Refusal) in
            try self.desk.vault.groups() + [Gate.unidentified]
        }
    }

    /// Whether what is in a collection is out of reach.
    public func isLocked(_ id: SecretCollection.ID) -> Bool {
        desk.vault.state == .beforeFirstUnlock || closed.contains(id)
    }

    /// Whether the keychain is unlocked, which secrets of the foreground need.
    public var isUnlocked: Bool { desk.vault.state == .unlocked }

    func checkOpen(_ id: SecretCollection.ID) throws(Refusal) {
        if isLocked(id) { throw .collectionLocked }
    }

    /// Closes a collection for everybody. False where it was closed.
    func close(_ id: SecretCollection.ID) -> Bool { closed.insert(id).inserted }

    /// A person has opened these.
    func open(_ ids: Set<SecretCollection.ID>) { closed.subtract(ids) }

    /// A person has opened the keychain by another way, and with it what was closed here.
    func openAll() {
        guard !closed.isEmpty else { return }
        let opened = closed
        closed = []
        changed(opened)
    }

    // MARK: collections

    /// Every collection that the grant reaches; before the first unlock those that are there without a row.
    func collections(_ grant: borrowing Grant) throws(Refusal) -> [SecretCollection] {
        var (made, overlays): ([SecretCollection], [SecretCollection.ID: SecretCollection]) = ([], [:])
        if desk.vault.state != .beforeFirstUnlock {
            for row in try desk.vault.search(grant, Query(internal: .secretServiceCollection)) {
                let collection = collection(row)
                if case .made = collection.id {
                    made.append(collection)
                } else if overlays[collection.id] == nil {
                    overlays[collection.id] = collection
                }
            }
        }
        let standing = [SecretCollection.ID.login, .session].filter(builtIn.contains)
        return standing.map { overlays[$0] ?? blank($0) } + made
    }

    func collection(
        _ address: SecretCollection.Address, _ grant: borrowing Grant
    ) throws(Refusal) -> SecretCollection {
        let collections = try collections(grant)
        let found: SecretCollection? =
            switch address {
            case .name(let name): collections.first { $0.name == name }
            case .alias(let alias):
                collections.last { $0.aliases.contains(alias) } ?? standing(alias, collections)
            }
        guard let found else { throw .noSuchCollection }
        return found
    }

    // What an alias means unless somebody says otherwise.
    private func standing(_ alias: String, _ collections: [SecretCollection]) -> SecretCollection? {
        switch alias {
        case "default", "login": collections.first { $0.id == .login }
        case "session": collections.first { $0.id == .session }
        default: nil
        }
    }

    private func collection(_ row: ItemAttributes) -> SecretCollection {
        let pathName = row.attributes[.pathName]?.blob.map { String(decoding: $0, as: UTF8.self) }
        let id: SecretCollection.ID =
            switch pathName {
            case "login": .login
            case "session": .session
            default: .made(row.reference)
            }
        let aliases = LookupAttributes(encoded: row.attributes[.aliases]?.blob ?? []) ?? LookupAttributes()
        return SecretCollection(
            id: id, name: pathName ?? row.reference.description,
            label: String(decoding: row.attributes[.label]?.blob ?? [], as: UTF8.self),
            aliases: aliases.dictionary.keys.sorted(), created: row.created, modified: row.modified,
            isLocked: isLocked(id), group: row.accessGroup, row: row.reference)
    }

    private func blank(_ id: SecretCollection.ID) -> SecretCollection {
        let isLogin = id == .login
        return SecretCollection(
            id: id, name: isLogin ? "login" : "session", label: isLogin ? "Login" : "Session", aliases: [],
            created: 0, modified: 0, isLocked: isLocked(id), group: nil, row: nil)
    }
}

extension Refusal {
    static let noSuchItem = Refusal(.itemNotFound, "There is no such item.")
    static let noSuchCollection = Refusal(.itemNotFound, "There is no such collection.")
    static let collectionLocked = Refusal(
        .interactionNotAllowed, "The collection is locked; 'chatelaine unlock' opens it.")
}
