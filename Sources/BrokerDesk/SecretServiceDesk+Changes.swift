internal import BrokerGate
public import BrokerModel
internal import BrokerPeers
internal import BrokerVault
internal import SDBus
public import Sodium

extension SecretServiceDesk {
    /// Adds an item to a collection. With `replacing` an item of the collection with the same attributes, no more and no
    /// less, is changed in its place. Says which it was.
    public func createItem(
        _ context: CallContext, in address: SecretCollection.Address, _ content: SecretItem.Content,
        _ secret: SharedSecret, replacing: Bool, pathName: String? = nil
    ) throws(Refusal) -> Outcome<(item: SecretItem, isNew: Bool)> {
        try with(context, replacing ? [.add, .update] : [.add]) { (caller, leave) throws(Refusal) in
            try Self.checkSize(content)
            let collection = try self.collection(address, leave(nil))
            try self.checkOpen(collection.id)
            if collection.id == .session {
                return .now(try self.remember(content, secret, replacing, caller, leave(nil)))
            }
            let item = try InternalItem(.secretServiceItem, Self.attributes(content, collection, pathName))
            // What is in somebody's collection is theirs.
            let group = collection.group ?? self.desk.gate.secretServiceTarget(of: caller)
            return try self.desk.waiting(caller, bytes: secret.secret.count + item.attributes.byteCount) {
                () async throws(Refusal) in
                let stored = try await self.writing(caller) { () async throws(Refusal) in
                    try await self.desk.vault.addInternal(
                        { () throws(Refusal) in try leave(group) },
                        replacing: replacing ? { () throws(Refusal) in try leave(nil) } : nil, item, secret)
                }
                self.desk.leaveUpkeep()
                let address = SecretItem.Address(
                    collection: .name(collection.name), name: stored.reference.description)
                return (try self.item(address, leave(nil)), stored.created)
            }
        }
    }

    /// Changes an item, and with a secret that too. Returns the item as it is then.
    public func change(
        _ context: CallContext, _ address: SecretItem.Address, _ change: SecretItem.Change,
        _ secret: SharedSecret? = nil
    ) throws(Refusal) -> Outcome<SecretItem> {
        try with(context, [.update]) { (caller, leave) throws(Refusal) in
            let item = try self.item(address, leave(nil))
            try self.checkOpen(item.collection)
            try Self.checkSize(Self.content(of: item, after: change))
            if item.collection == .session {
                return .now(try self.rememberChange(of: item, change, secret))
            }
            let attributes = Self.attributes(change)
            return try self.desk.waiting(
                caller, bytes: (secret?.secret.count ?? 0) + attributes.byteCount
            ) { () async throws(Refusal) in
                try await self.writing(caller) { () async throws(Refusal) in
                    try await self.desk.vault.updateInternal(
                        { () throws(Refusal) in try leave(nil) }, .secretServiceItem, item.reference,
                        attributes, secret)
                }
                self.desk.leaveUpkeep()
                return try self.item(address, leave(nil))
            }
        }
    }

    /// Deletes an item and says which it was.
    public func deleteItem(
        _ context: CallContext, _ address: SecretItem.Address
    ) throws(Refusal) -> Outcome<SecretItem> {
        try with(context, [.delete]) { (caller, leave) throws(Refusal) in
            let item = try self.item(address, leave(nil))
            try self.checkOpen(item.collection)
            if item.collection == .session {
                self.memory.remove(item.reference)
                return .now(item)
            }
            return try self.desk.waiting(caller, bytes: 0) { () async throws(Refusal) in
                try await self.desk.vault.deleteInternal(
                    { () throws(Refusal) in try leave(nil) },
                    [Query(internal: .secretServiceItem, reference: item.reference)])
                self.desk.leaveUpkeep()
                return item
            }
        }
    }

    private func remember(
        _ content: SecretItem.Content, _ secret: SharedSecret, _ replacing: Bool, _ caller: Caller,
        _ grant: borrowing Grant
    ) throws(Refusal) -> (item: SecretItem, isNew: Bool) {
        guard let group = desk.gate.secretServiceTarget(of: caller) else { throw .missingGroup }
        let now = desk.outlet.now()
        let same = memory.items(of: grant.groups, content.lookup).filter {
            $0.content.lookup == content.lookup
        }
        let old = replacing ? same.max { $0.modified < $1.modified } : nil
        let item = MemoryCollection.Item(
            reference: old?.reference ?? Vault.newReference(), group: old?.group ?? group, content: content,
            created: old?.created ?? now, modified: max(now, (old?.modified ?? 0) + 1), secret: secret)
        try memory.put(item)
        return (record(item), old == nil)
    }

    private func rememberChange(
        of item: SecretItem, _ change: SecretItem.Change, _ secret: SharedSecret?
    ) throws(Refusal) -> SecretItem {
        guard var changed = memory[item.reference] else { throw .noSuchItem }
        changed.content = Self.content(of: item, after: change)
        if let secret { changed.secret = secret }
        changed.modified = max(desk.outlet.now(), changed.modified + 1)
        try memory.put(changed)
        return record(changed)
    }

    private static func content(of item: SecretItem, after change: SecretItem.Change) -> SecretItem.Content {
        SecretItem.Content(
            label: change.label ?? item.label, lookup: change.lookup ?? item.lookup,
            contentType: change.contentType ?? item.contentType)
    }

    private static func attributes(
        _ content: SecretItem.Content, _ collection: SecretCollection, _ pathName: String?
    ) -> AttributeSet {
        var change = SecretItem.Change()
        (change.label, change.lookup, change.contentType) = (
            content.label, content.lookup, content.contentType
        )
        var attributes = attributes(change)
        attributes[.collection] = collection.id.attribute
        if let pathName { attributes[.pathName] = .text(Array(pathName.utf8)) }
        return attributes
    }

    private static func attributes(_ change: SecretItem.Change) -> AttributeSet {
        var attributes = AttributeSet()
        if let label = change.label { attributes[.label] = .text(Array(label.utf8)) }
        if let lookup = change.lookup { attributes.lookup = lookup }
        if let type = change.contentType { attributes[.contentType] = .text(Array(type.utf8)) }
        return attributes
    }
}
