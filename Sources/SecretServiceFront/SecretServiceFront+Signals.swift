internal import BrokerDesk
internal import BrokerModel
internal import SDBus

extension SecretServiceFront {
    /// To who sees so many items at most a change tells the whole list, or of each: thousands would make a storm.
    private static var listedMax: Int { 256 }
    private static var lockedItemsMax: Int { 16 }

    func tellCreated(_ item: SecretItem) { tell("ItemCreated", item, listChanged: true) }

    func tellDeleted(_ item: SecretItem) { tell("ItemDeleted", item, listChanged: true) }

    func tellChanged(_ item: SecretItem) {
        tell("ItemChanged", item, listChanged: false)
        for listener in listeners(item.group) {
            propertiesChanged(item.path, SecretServiceName.item, Self.values(of: item), to: listener)
        }
    }

    func tellCreated(_ collection: SecretCollection) { tell("CollectionCreated", collection) }

    func tellDeleted(_ collection: SecretCollection, _ items: [SecretItem]) {
        if items.count <= Self.listedMax {
            for item in items { tell("ItemDeleted", item, listChanged: false) }
        }
        tell("CollectionDeleted", collection)
    }

    func tellChanged(_ collection: SecretCollection) {
        for listener in listeners(collection.group) {
            emit(
                "CollectionChanged", collection.path, SecretServiceName.service, SecretServiceName.root,
                to: listener)
            propertiesChanged(
                collection.path, SecretServiceName.collection, Self.values(of: collection), to: listener)
        }
    }

    /// What was open is closed, or the other way; nil: everything may be.
    func lockingChanged(_ ids: Set<SecretCollection.ID>?) {
        for listener in listeners(nil) {
            for collection in collections(seenBy: listener.viewer) where ids?.contains(collection.id) ?? true
            {
                emit(
                    "CollectionChanged", collection.path, SecretServiceName.service, SecretServiceName.root,
                    to: listener)
                let locked = ["Locked": Variant(collection.isLocked)]
                propertiesChanged(collection.path, SecretServiceName.collection, locked, to: listener)
                for item in items(of: collection, seenBy: listener.viewer, max: Self.lockedItemsMax) ?? [] {
                    // Not always its collection's: its secret may be out of reach alone.
                    let locked = ["Locked": Variant(item.isLocked)]
                    propertiesChanged(item.path, SecretServiceName.item, locked, to: listener)
                }
            }
        }
        // After the properties: who hears of a prompt's end looks at them.
        prompts.lockingChanged()
    }

    /// A logout has taken the items of a group.
    func emptied(_ group: AccessGroup) {
        for listener in listeners(group) {
            for collection in collections(seenBy: listener.viewer) { tellItems(of: collection, to: listener) }
            tellCollections(to: listener)
        }
    }

    /// An administrator has brought something in.
    func tell(_ arrival: SecretServiceDesk.Arrival) {
        switch arrival {
        case .collection(let collection): tellCreated(collection)
        case .item(let item): tellCreated(item)
        case .changedItem(let item): tellChanged(item)
        }
    }

    private func tell(_ signal: String, _ item: SecretItem, listChanged: Bool) {
        for listener in listeners(item.group) {
            emit(signal, item.path, SecretServiceName.collection, item.collectionPath.value, to: listener)
            guard listChanged else { continue }
            let own = collections(seenBy: listener.viewer).first { $0.id == item.collection }
            if let own { tellItems(of: own, to: listener) }
        }
    }

    private func tell(_ signal: String, _ collection: SecretCollection) {
        for listener in listeners(collection.group) {
            emit(signal, collection.path, SecretServiceName.service, SecretServiceName.root, to: listener)
            tellCollections(to: listener)
        }
    }

    private func tellCollections(to listener: Listener) {
        let paths = collections(seenBy: listener.viewer).map(\.path)
        propertiesChanged(
            ObjectPath(SecretServiceName.root), SecretServiceName.service, ["Collections": Variant(paths)],
            to: listener)
    }

    private func tellItems(of collection: SecretCollection, to listener: Listener) {
        guard let items = items(of: collection, seenBy: listener.viewer, max: Self.listedMax) else { return }
        propertiesChanged(
            collection.path, SecretServiceName.collection, ["Items": Variant(items.map(\.path))], to: listener
        )
    }

    // Nil for more than `max`, of which nobody wants to hear one by one.
    private func items(of collection: SecretCollection, seenBy name: String, max: Int) -> [SecretItem]? {
        let context = CallContext(connection: name, allowsInteraction: false)
        let outcome = try? desk.fewItems(context, of: .name(collection.name), countMax: max)
        guard case .now(let found)? = outcome else { return nil }
        return found
    }

    /// Who hears a signal: one connection, or all, and whose view it tells of.
    private struct Listener {
        /// Nil for all.
        let destination: String?
        let viewer: String
    }

    // Each that has called and sees the group, for what is nobody's each that has called. Where the policy shares all with
    // all, as other keyrings do, one signal for everybody, and also for who has not called.
    private func listeners(_ group: AccessGroup?) -> [Listener] {
        let seeing = audience.filter { name in group.map { desk.sees($0, name) } ?? desk.isKnown(name) }
        guard desk.isShared else { return seeing.map { Listener(destination: $0, viewer: $0) } }
        return seeing.first.map { [Listener(destination: nil, viewer: $0)] } ?? []
    }

    private func propertiesChanged(
        _ path: ObjectPath, _ interface: String, _ values: [String: Variant], to listener: Listener
    ) {
        send { () throws(BusError) in
            try connection.emit(
                signal: "PropertiesChanged", interface: SecretServiceName.properties, path: path.value,
                to: listener.destination,
                interface, values, [String]())
        }
    }

    private func emit(
        _ signal: String, _ object: ObjectPath, _ interface: String, _ path: String, to listener: Listener
    ) {
        send { () throws(BusError) in
            try connection.emit(
                signal: signal, interface: interface, path: path, to: listener.destination, object)
        }
    }

    private func send(_ body: () throws(BusError) -> Void) {
        do throws(BusError) {
            try body()
        } catch {
            BusLog.sink("signal not sent: \(error.name)")
        }
    }
}
