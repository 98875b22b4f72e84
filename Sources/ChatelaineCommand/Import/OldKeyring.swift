internal import BrokerModel
internal import Chatelaine
internal import Console
internal import SDBus
internal import Sodium

/// Another keyring that has `org.freedesktop.secrets` on the session's bus, as a place to move from.
@BrokerActor final class OldKeyring: OldPlace {
    let connection: Connection
    /// Its unique name: whoever takes the well-known one meanwhile is somebody else.
    let owner: String
    private let broker: Broker
    private let session: OldKeyringSession
    let name: String
    private(set) var candidates: [Candidate] = []
    private(set) var remarks: [String] = []
    private(set) var hasMistakes = false
    private var collections: [OldCollection] = []
    /// Whether the keyring may ask its own questions without one of ours before.
    private var hasLeave = false

    nonisolated static let root = "/org/freedesktop/secrets"
    nonisolated static let service = "org.freedesktop.Secret.Service"
    private nonisolated static let busName = "org.freedesktop.secrets"
    private nonisolated static let isLocked = "org.freedesktop.Secret.Error.IsLocked"

    let kind = "secret-service"
    var advice: String? { nil }

    private init(_ connection: Connection, _ owner: String, _ program: String, _ broker: Broker)
        async throws(BusError)
    {
        (self.connection, self.owner, self.broker) = (connection, owner, broker)
        name = "\(Self.busName) of \(program)"
        session = try await OldKeyringSession(with: owner, connection)
    }

    /// The one on the session's bus, started by the bus where it is not there yet. It is not Chatelaine itself.
    static func find(besides broker: Broker) async throws(Failure) -> OldKeyring {
        let connection = try await onOldBus { () async throws(BusError) in try Connection.openUser() }
        _ = try? await connection.callBus("StartServiceByName", busName, UInt32(0))
        guard let owner = try? await connection.callBus("GetNameOwner", busName).read(String.self) else {
            throw Failure(
                .notFound, "nobody has \(busName) on the session's bus; start the keyring to move from")
        }
        let process = await BusFacts.credentials(of: owner, connection)?.processID ?? 0
        if let own = await BusFacts.brokerCredentials(connection), own.processID == process {
            throw Failure(
                .usage,
                "\(busName) on the session's bus is Chatelaine's own; start the other keyring on a bus of its own, with "
                    + "dbus-run-session")
        }
        let program = BusFacts.programName(process)
        return try await onOldBus { () async throws(BusError) in
            try await OldKeyring(connection, owner, program, broker)
        }
    }

    /// Looks which collections there are, and has the keyring open those that are locked: with leave, or where the person
    /// says so now.
    func open(asking mayAsk: Bool, hasLeave: Bool) async throws(Failure) {
        self.hasLeave = hasLeave
        collections = try await onOldBus { () async throws(BusError) in try await readCollections() }
        for index in collections.indices where collections[index].isLocked && !collections[index].isSession {
            let (path, label) = (collections[index].path, collections[index].label.printable)
            if !hasLeave {
                let question = "The collection '\(label)' is locked. Have its keyring ask you?"
                guard mayAsk, try Question.ask(question) else { continue }
            }
            let isOpen = try await onOldBus { () async throws(BusError) in try await unlock(path) }
            collections[index].isLocked = !isOpen
        }
    }

    private func unlock(_ path: ObjectPath) async throws(BusError) -> Bool {
        let reply = try await connection.call(
            owner, path: Self.root, interface: Self.service, member: "Unlock", [path])
        let (opened, prompt) = try reply.read([ObjectPath].self, ObjectPath.self)
        if prompt.value == "/" { return opened.contains(path) }
        return try await self.prompt(prompt)
    }

    /// Lists what can be moved to the group, or where the broker puts it; of those schemas alone, where any are named.
    func collect(to group: String?, schemas: [String]) async throws(Failure) {
        for collection in collections {
            let (label, count) = (collection.label.printable, collection.items.count)
            if collection.isSession {
                if count > 0 {
                    leave("the collection session is in memory alone; items left in it: \(count)")
                }
            } else if collection.isLocked {
                hasMistakes = true
                leave(
                    "the collection '\(label)' is locked; items left in it: \(count). --apply has its keyring ask"
                )
            } else {
                try await onOldBus { () async throws(BusError) in
                    try await collect(collection, group, schemas)
                }
            }
        }
        // Of several with the same attributes the newest is the one that programs have found.
        candidates.sort { ($0.modified ?? 0) > ($1.modified ?? 0) }
    }

    private func leave(_ remark: String) { remarks.append(remark) }

    private func collect(
        _ collection: OldCollection, _ group: String?, _ schemas: [String]
    ) async throws(BusError) {
        var lost = 0
        for path in collection.items {
            guard let item = try await readItem(path) else {
                lost += 1
                continue
            }
            guard schemas.isEmpty || schemas.contains(item.schema) else { continue }
            let target = item.isOfPortal ? "" : group ?? ""
            candidates.append(
                Candidate(
                    place: path.value,
                    section: Candidate.Section(collection: collection.label, schema: item.schema),
                    modified: item.modified,
                    ask: { (mode) async throws(ImportTrouble) in
                        try await self.ask(mode, path, item, collection.target, target)
                    }))
        }
        if lost > 0 {
            hasMistakes = true
            leave(
                "listed in '\(collection.label.printable)' and not there: \(lost); start that keyring anew, and look again"
            )
        }
    }

    private func ask(
        _ mode: ImportMode, _ path: ObjectPath, _ item: OldItem, _ collection: String, _ group: String
    ) async throws(ImportTrouble) -> ImportAnswer {
        let (secret, contentType) = try await secret(path)
        let foreign = ForeignItem(
            collection: collection, label: item.label, attributes: item.portalAttributes ?? item.attributes,
            contentType: contentType)
        return try await forCandidate { () async throws(ChatelaineError) in
            try await broker.importSecret(foreign, secret, group: group, mode)
        }
    }

    private func secret(
        _ path: ObjectPath
    ) async throws(ImportTrouble) -> (secret: SharedSecret, contentType: String) {
        do throws(BusError) {
            do throws(BusError) {
                return try await read(path)
            } catch {
                // Some lock each item by itself.
                guard hasLeave, error.name == Self.isLocked, try await unlock(path) else { throw error }
                return try await read(path)
            }
        } catch {
            guard connection.isOpen, !error.isServiceUnknown else { throw .all(Failure(oldBus: error)) }
            // The keyring's own words may be about what is in it.
            throw .item("the other keyring says \(error.name.printable)")
        }
    }

    private func read(
        _ path: ObjectPath
    ) async throws(BusError) -> (secret: SharedSecret, contentType: String) {
        let reply = try await connection.call(
            owner, path: path.value, interface: OldItem.interface, member: "GetSecret", session.path,
            sensitive: true)
        return try reply.withReader { (reader) throws(BusError) in try session.read(&reader) }
    }

    /// Each is compared once more, with what the keyring has by now, and only what is the same is deleted.
    func removeOld(_ troubles: inout [String]) async throws(Failure) -> Int {
        var removed = 0
        for candidate in candidates {
            do throws(ImportTrouble) {
                guard try await candidate.ask(.look).outcome == .there else { continue }
                if try await delete(candidate.place) {
                    removed += 1
                } else {
                    troubles.append(
                        "\(candidate.place) was not removed: the question was not answered with yes")
                }
            } catch {
                let reason = try error.ofOneItem
                troubles.append("\(candidate.place) was not removed: \(reason)")
            }
        }
        return removed
    }

    private func delete(_ path: String) async throws(ImportTrouble) -> Bool {
        do throws(BusError) {
            let prompt = try await connection.call(
                owner, path: path, interface: OldItem.interface, member: "Delete"
            ).read(ObjectPath.self)
            if prompt.value == "/" { return true }
            return try await self.prompt(prompt)
        } catch {
            throw .item("the other keyring says \(error.name.printable)")
        }
    }
}

/// Runs calls of another keyring where the command throws its own failures.
@BrokerActor private func onOldBus<Value>(
    _ body: @BrokerActor () async throws(BusError) -> Value
) async throws(Failure) -> Value {
    do throws(BusError) {
        return try await body()
    } catch {
        throw Failure(oldBus: error)
    }
}

extension Failure {
    // The keyring's own words may be about what is in it.
    fileprivate init(oldBus error: BusError) {
        self.init(.failed, "the other keyring cannot be read: \(error.name.printable)")
    }
}
