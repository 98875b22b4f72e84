internal import BrokerGate
public import BrokerModel
internal import BrokerVault
internal import SDBus
public import Sodium

extension SecretServiceDesk {
    /// The items of a collection, for a caller that sees few; nil for one that sees more than `countMax`, wherever.
    public func fewItems(
        _ context: CallContext, of address: SecretCollection.Address, countMax: Int
    ) throws(Refusal) -> Outcome<[SecretItem]?> {
        try with(context, [.search]) { (_, leave) throws(Refusal) in
            if self.desk.vault.state == .beforeFirstUnlock { return .now([]) }
            let grant = try leave(nil)
            let isMore = try self.desk.vault.holdsMore(than: countMax, .secretServiceItem, grant)
            if isMore { return .now(nil) }
            let collection = try self.collection(address, grant)
            return .now(try self.found(LookupAttributes(), in: collection, [collection], grant))
        }
    }

    /// A collection with the items that the caller sees, oldest first.
    public func collectionWithItems(
        _ context: CallContext, _ address: SecretCollection.Address
    ) throws(Refusal) -> Outcome<(collection: SecretCollection, items: [SecretItem])> {
        try with(context, [.search]) { (_, leave) throws(Refusal) in
            let grant = try leave(nil)
            let collection = try self.collection(address, grant)
            // Which there are can be said when the keys have been here once.
            if self.desk.vault.state == .beforeFirstUnlock { return .now((collection, [])) }
            let items = try self.found(LookupAttributes(), in: collection, [collection], grant)
            return .now((collection, items))
        }
    }

    /// The items that have the attributes, those that were changed last first; of one collection, or of all.
    /// `InteractionNotAllowed` before the first unlock, when nobody can say what there is.
    public func search(
        _ context: CallContext, _ filter: LookupAttributes, in address: SecretCollection.Address?
    ) throws(Refusal) -> Outcome<[SecretItem]> {
        try with(context, [.search]) { (_, leave) throws(Refusal) in
            let grant = try leave(nil)
            let one = try address.map { (address) throws(Refusal) in try self.collection(address, grant) }
            // The names of collections that were made are asked for where one of their items is found.
            let found = try self.found(filter, in: one, nil, grant)
            return .now(found.sorted { ($0.modified, $0.created) > ($1.modified, $1.created) })
        }
    }

    /// One item.
    public func item(
        _ context: CallContext, _ address: SecretItem.Address
    ) throws(Refusal) -> Outcome<SecretItem> {
        try with(context, [.search]) { (_, leave) throws(Refusal) in
            .now(try self.item(address, leave(nil)))
        }
    }

    /// One item with its secret. `InteractionNotAllowed` where it is locked.
    public func secret(
        _ context: CallContext, _ address: SecretItem.Address
    ) throws(Refusal) -> Outcome<(item: SecretItem, secret: SharedSecret)> {
        try with(context, [.read]) { (caller, leave) throws(Refusal) in
            let found = try self.itemWithSecret(address, leave(nil))
            self.desk.gate.recordRead(caller, .read, found.item.group)
            return .now(found)
        }
    }

    /// The secrets of those items that are there and open, by their place in the call. `TooLarge` for more than one reply
    /// holds.
    public func secrets(
        _ context: CallContext, _ addresses: [SecretItem.Address]
    ) throws(Refusal) -> Outcome<[(index: Int, item: SecretItem, secret: SharedSecret)]> {
        try with(context, [.read]) { (caller, leave) throws(Refusal) in
            let grant = try leave(nil)
            var (found, bytes): ([(index: Int, item: SecretItem, secret: SharedSecret)], Int) = ([], 0)
            for (index, address) in addresses.enumerated() {
                do throws(Refusal) {
                    let one = try self.itemWithSecret(address, grant)
                    bytes += one.secret.secret.count + 256
                    guard bytes <= Limits.replyBytesMax else {
                        throw Refusal(.tooLarge, "One reply has 16 MiB at most; ask for fewer secrets.")
                    }
                    self.desk.gate.recordRead(caller, .read, one.item.group)
                    found.append((index, one.item, one.secret))
                } catch {
                    if error.kind != .itemNotFound && error.kind != .interactionNotAllowed { throw error }
                }
            }
            return .now(found)
        }
    }

    func itemWithSecret(
        _ address: SecretItem.Address, _ grant: borrowing Grant
    ) throws(Refusal) -> (item: SecretItem, secret: SharedSecret) {
        if let found = try memoryItem(address, grant) {
            try checkOpen(.session)
            return (record(found), found.secret)
        }
        let query = try query(for: address, grant)
        try checkFirstUnlock()
        let found = try desk.vault.read(grant, query)
        let item = try record(found.attributes, at: address, grant)
        try checkOpen(item.collection)
        return (item, found.secret)
    }

    func item(_ address: SecretItem.Address, _ grant: borrowing Grant) throws(Refusal) -> SecretItem {
        if let found = try memoryItem(address, grant) { return record(found) }
        try checkFirstUnlock()
        let query = try query(for: address, grant)
        guard let row = try desk.vault.search(grant, query).first else { throw .noSuchItem }
        return try record(row, at: address, grant)
    }

    private func checkFirstUnlock() throws(Refusal) {
        if desk.vault.state == .beforeFirstUnlock { throw .collectionLocked }
    }

    // An item by its path: by its reference, or by a name that was given to it.
    private func query(
        for address: SecretItem.Address, _ grant: borrowing Grant
    ) throws(Refusal) -> Query {
        if let reference = Reference(text: address.name) {
            return Query(internal: .secretServiceItem, reference: reference)
        }
        var attributes = AttributeSet()
        attributes[.pathName] = .text(Array(address.name.utf8))
        attributes[.collection] = try collection(address.collection, grant).id.attribute
        return Query(internal: .secretServiceItem, attributes)
    }

    // The path must lead to it by its own collection, or by an alias of that.
    private func record(
        _ row: ItemAttributes, at address: SecretItem.Address, _ grant: borrowing Grant
    ) throws(Refusal) -> SecretItem {
        guard let id = SecretCollection.ID(attribute: row.attributes[.collection]) else {
            throw Refusal(.decode, "The item is damaged.")
        }
        if case .name(let name) = address.collection, name == Self.plainName(of: id) {
            return record(row, id, name)
        }
        let collection = try collection(address.collection, grant)
        guard collection.id == id else { throw .noSuchItem }
        return record(row, id, collection.name)
    }

    private static func plainName(of id: SecretCollection.ID) -> String {
        switch id {
        case .login: "login"
        case .session: "session"
        case .made(let reference): reference.description
        }
    }

    func found(
        _ filter: LookupAttributes, in collection: SecretCollection?, _ known: [SecretCollection]?,
        _ grant: borrowing Grant
    ) throws(Refusal) -> [SecretItem] {
        var items: [SecretItem] = []
        if collection == nil || collection?.id == .session {
            items = memory.items(of: grant.groups, filter).map { record($0) }
        }
        if collection?.id == .session { return items }
        try checkFirstUnlock()
        var wanted = AttributeSet()
        if let collection { wanted[.collection] = collection.id.attribute }
        if !filter.pairs.isEmpty { wanted.lookup = filter }
        var known = known
        for row in try desk.vault.search(grant, Query(internal: .secretServiceItem, wanted)) {
            guard let id = SecretCollection.ID(attribute: row.attributes[.collection]) else { continue }
            if case .made = id {
                let collections: [SecretCollection]
                if let known { collections = known } else { collections = try self.collections(grant) }
                known = collections
                guard let own = collections.first(where: { $0.id == id }) else { continue }
                items.append(record(row, id, own.name))
            } else {
                items.append(record(row, id, Self.plainName(of: id)))
            }
        }
        return items
    }

    private func memoryItem(
        _ address: SecretItem.Address, _ grant: borrowing Grant
    ) throws(Refusal) -> MemoryCollection.Item? {
        guard let reference = Reference(text: address.name), let item = memory[reference],
            grant.groups.contains(item.group)
        else { return nil }
        switch address.collection {
        case .name("session"), .alias("session"): return item
        default: return nil
        }
    }

    func record(_ item: MemoryCollection.Item) -> SecretItem {
        SecretItem(
            collection: .session, collectionName: "session", reference: item.reference,
            name: item.reference.description, group: item.group, label: item.content.label,
            lookup: item.content.lookup.encoded, contentType: item.content.contentType, created: item.created,
            modified: item.modified, isLocked: isLocked(.session))
    }

    func record(_ row: ItemAttributes, _ id: SecretCollection.ID, _ collectionName: String) -> SecretItem {
        func text(_ key: AttributeKey) -> String? {
            row.attributes[key]?.blob.map { String(decoding: $0, as: UTF8.self) }
        }
        return SecretItem(
            collection: id, collectionName: collectionName, reference: row.reference,
            name: text(.pathName) ?? row.reference.description, group: row.accessGroup,
            label: text(.label) ?? "", lookup: row.attributes[.lookup]?.blob ?? [],
            contentType: text(.contentType) ?? "",
            created: row.created, modified: row.modified,
            isLocked: isLocked(id) || row.isSecretForeground && !isUnlocked)
    }
}
