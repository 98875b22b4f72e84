internal import BrokerBus
internal import SDBus
public import Sodium

extension Broker {
    /// An item's place after a call that stored it.
    public struct Stored: Sendable, Equatable {
        /// Its persistent reference.
        public let reference: String
        /// Its revision now.
        public let revision: UInt64
        /// Whether there was no such item before.
        public let isNew: Bool
    }

    /// An item with its secret.
    public struct Item: Sendable {
        /// Its attributes.
        public let attributes: Attributes
        /// Its secret.
        public let secret: SharedSecret
    }

    /// Adds an item; `duplicateItem` when its primary key is taken.
    public func add(
        _ attributes: Attributes, _ secret: SharedSecret
    ) async throws(ChatelaineError) -> Stored {
        let session = try await session()
        return try await call(Contract.Interface.items, "Add", sensitive: true) { (writer) throws(BusError) in
            try writer.append(attributes)
            try writer.append(OutgoingSecret(secret, for: session))
        } read: { (reader) throws(BusError) in
            Stored(reference: try reader.read(), revision: try reader.read(), isNew: true)
        }
    }

    /// Adds an item or replaces the one of its primary key, in one step.
    public func store(
        _ attributes: Attributes, _ secret: SharedSecret
    ) async throws(ChatelaineError) -> Stored {
        let session = try await session()
        return try await call(Contract.Interface.items, "Store", sensitive: true) {
            (writer) throws(BusError) in
            try writer.append(attributes)
            try writer.append(OutgoingSecret(secret, for: session))
        } read: { (reader) throws(BusError) in
            Stored(
                reference: try reader.read(), revision: try reader.read(), isNew: try reader.read())
        }
    }

    /// The oldest match with its secret; `itemNotFound` when there is none.
    public func read(_ query: Attributes) async throws(ChatelaineError) -> Item {
        let session = try await session()
        return try await call(Contract.Interface.items, "Read", .forPerson, sensitive: true) {
            (writer) throws(BusError) in
            try writer.append(query)
            try writer.append(ObjectPath(session.path))
        } read: { (reader) throws(BusError) in
            let attributes = try reader.read(Attributes.self)
            return Item(attributes: attributes, secret: try Self.open(try reader.read(), session))
        }
    }

    /// Every match with its secret, oldest first; `itemNotFound` when there is none.
    public func readAll(_ query: Attributes) async throws(ChatelaineError) -> [Item] {
        let session = try await session()
        return try await call(Contract.Interface.items, "ReadAll", .forPerson, sensitive: true) {
            (writer) throws(BusError) in
            try writer.append(query)
            try writer.append(ObjectPath(session.path))
        } read: { (reader) throws(BusError) in
            var items: [Item] = []
            _ = try reader.enter("a", "(a{sv}(oayay))")
            while try reader.enter("r", "a{sv}(oayay)") {
                let attributes = try reader.read(Attributes.self)
                items.append(Item(attributes: attributes, secret: try Self.open(try reader.read(), session)))
                try reader.exit()
            }
            try reader.exit()
            return items
        }
    }

    /// The attributes of every match, oldest first, maybe none. No secret is decrypted.
    public func search(_ query: Attributes) async throws(ChatelaineError) -> [Attributes] {
        try await call(Contract.Interface.items, "Search", .forPerson, sensitive: true) {
            (writer) throws(BusError) in
            try writer.append(query)
        } read: { (reader) throws(BusError) in
            try reader.read()
        }
    }

    /// Changes every match, all or nothing, and says how many. Without a secret they keep theirs.
    public func update(
        _ query: Attributes, _ changes: Attributes, secret: SharedSecret? = nil
    ) async throws(ChatelaineError) -> UInt32 {
        let session = secret == nil ? nil : try await session()
        return try await call(Contract.Interface.items, "Update", .forPerson, sensitive: true) {
            (writer) throws(BusError) in
            try writer.append(query)
            try writer.append(changes)
            try writer.open("a", "(oayay)")
            if let secret, let session { try writer.append(OutgoingSecret(secret, for: session)) }
            try writer.close()
        } read: { (reader) throws(BusError) in
            try reader.read()
        }
    }

    /// Deletes every match, all or nothing, and says how many; `itemNotFound` when there is none.
    public func delete(_ query: Attributes) async throws(ChatelaineError) -> UInt32 {
        try await call(Contract.Interface.items, "Delete", sensitive: true) { (writer) throws(BusError) in
            try writer.append(query)
        } read: { (reader) throws(BusError) in
            try reader.read()
        }
    }

    /// Deletes a service's items, or with an empty service those of the whole group, and tells the group's
    /// subscribers. Nothing to delete is no error; the epoch then stays.
    public func logout(
        group: String, service: String, reason: String
    ) async throws(ChatelaineError) -> (deleted: UInt32, epoch: UInt64) {
        try await call(Contract.Interface.items, "Logout") { (writer) throws(BusError) in
            try writer.append(group)
            try writer.append(service)
            try writer.append(reason)
        } read: { (reader) throws(BusError) in
            (try reader.read(), try reader.read())
        }
    }
}
