internal import BrokerGate
public import BrokerModel
internal import BrokerPeers
internal import BrokerVault
internal import SDBus
internal import Sodium

extension SecretServiceDesk {
    /// The collections that the caller sees.
    public func collections(_ context: CallContext) throws(Refusal) -> Outcome<[SecretCollection]> {
        try with(context, [.search]) { (_, leave) throws(Refusal) in .now(try self.collections(leave(nil))) }
    }

    /// One collection.
    public func collection(
        _ context: CallContext, _ address: SecretCollection.Address
    ) throws(Refusal) -> Outcome<SecretCollection> {
        try with(context, [.search]) { (_, leave) throws(Refusal) in
            .now(try self.collection(address, leave(nil)))
        }
    }

    /// Makes a collection in the caller's first group; where the alias is in use, the one that it leads to is the answer.
    public func createCollection(
        _ context: CallContext, label: String, alias: String, pathName: String? = nil
    ) throws(Refusal) -> Outcome<(collection: SecretCollection, isNew: Bool)> {
        try with(context, [.add]) { (caller, leave) throws(Refusal) in
            try Self.checkSize(label)
            try Self.checkSize(alias)
            if let old = try self.aliased(alias, leave(nil)) { return .now((old, false)) }
            guard self.desk.vault.state != .beforeFirstUnlock else { throw .collectionLocked }
            return try self.naming(caller, bytes: label.utf8.count) { () async throws(Refusal) in
                // Another may have made it meanwhile.
                if let old = try self.aliased(alias, leave(nil)) { return (old, false) }
                let made = try await self.make(label, alias.isEmpty ? [] : [alias], pathName, caller, leave)
                return (made, true)
            }
        }
    }

    private func aliased(
        _ alias: String, _ grant: borrowing Grant
    ) throws(Refusal) -> SecretCollection? {
        if alias.isEmpty { return nil }
        do throws(Refusal) {
            return try collection(.alias(alias), grant)
        } catch {
            if error.kind == .itemNotFound { return nil }
            throw error
        }
    }

    // One after the other: each looks at what the one before has left.
    private func naming<Value>(
        _ caller: Caller, bytes: Int, _ work: @escaping () async throws(Refusal) -> Value
    ) throws(Refusal) -> Outcome<Value> {
        try desk.waiting(caller, bytes: bytes) { () async throws(Refusal) in
            await self.namers.take()
            defer { self.namers.pass() }
            return try await work()
        }
    }

    private func make(
        _ label: String, _ aliases: [String], _ pathName: String?, _ caller: Caller, _ leave: @escaping Leave
    ) async throws(Refusal) -> SecretCollection {
        let group = desk.gate.secretServiceTarget(of: caller)
        var attributes = AttributeSet()
        attributes[.label] = .text(Array(label.utf8))
        attributes[.aliases] = .bytes(Self.encoded(aliases))
        if let pathName { attributes[.pathName] = .text(Array(pathName.utf8)) }
        let stored = try await desk.vault.addInternal(
            { () throws(Refusal) in try leave(group) },
            try InternalItem(.secretServiceCollection, attributes), SharedSecret(Secret(count: 0) { _ in }))
        return try collection(.name(pathName ?? stored.reference.description), leave(nil))
    }

    /// Deletes a collection with its items, and says what they were. `NotAvailable` for the two that are always there.
    public func deleteCollection(
        _ context: CallContext, _ address: SecretCollection.Address
    ) throws(Refusal) -> Outcome<(collection: SecretCollection, items: [SecretItem])> {
        try with(context, [.delete, .search]) { (caller, leave) throws(Refusal) in
            let collection = try self.collection(address, leave(nil))
            try self.checkOpen(collection.id)
            guard case .made(let reference) = collection.id else {
                throw Refusal(.notAvailable, "This collection is always there; delete its items.")
            }
            let items = try self.found(LookupAttributes(), in: collection, [collection], leave(nil))
            return try self.desk.waiting(caller, bytes: 0) { () async throws(Refusal) in
                var own = AttributeSet()
                own[.collection] = collection.id.attribute
                try await self.desk.vault.deleteInternal(
                    { () throws(Refusal) in try leave(nil) },
                    [
                        Query(internal: .secretServiceItem, own),
                        Query(internal: .secretServiceCollection, reference: reference),
                    ])
                self.desk.leaveUpkeep()
                return (collection, items)
            }
        }
    }

    /// Gives a collection another label. Returns it as it is then.
    public func relabel(
        _ context: CallContext, _ address: SecretCollection.Address, _ label: String
    ) throws(Refusal) -> Outcome<SecretCollection> {
        try with(context, [.update, .add]) { (caller, leave) throws(Refusal) in
            try Self.checkSize(label)
            try self.checkOpen(self.collection(address, leave(nil)).id)
            return try self.naming(caller, bytes: label.utf8.count) { () async throws(Refusal) in
                let collection = try self.collection(address, leave(nil))
                try await self.store(collection, label, collection.aliases, caller, leave)
                return try self.collection(.name(collection.name), leave(nil))
            }
        }
    }

    /// The collection that an alias leads to; nil for none.
    public func readAlias(
        _ context: CallContext, _ alias: String
    ) throws(Refusal) -> Outcome<SecretCollection?> {
        try with(context, [.search]) { (_, leave) throws(Refusal) in
            .now(try self.aliased(alias, leave(nil)))
        }
    }

    /// Leads an alias to a collection, or to nothing: then to where it leads of itself.
    public func setAlias(
        _ context: CallContext, _ alias: String, to address: SecretCollection.Address?
    ) throws(Refusal) -> Outcome<Void> {
        try with(context, [.update, .add]) { (caller, leave) throws(Refusal) in
            guard !alias.isEmpty else { throw Refusal(.param, "An alias has a name.") }
            try Self.checkSize(alias)
            if let address { _ = try self.collection(address, leave(nil)) }
            guard self.desk.vault.state != .beforeFirstUnlock else { throw .collectionLocked }
            return try self.naming(caller, bytes: alias.utf8.count) { () async throws(Refusal) in
                let target = try address.map { (address) throws(Refusal) in
                    try self.collection(address, leave(nil))
                }
                if let target { try Self.checkSize(Self.encoded(target.aliases + [alias]).count) }
                for other in try self.collections(leave(nil)) where other.aliases.contains(alias) {
                    if other.id == target?.id { continue }
                    try await self.store(
                        other, other.label, other.aliases.filter { $0 != alias }, caller, leave)
                }
                guard let target, !target.aliases.contains(alias) else { return }
                try await self.store(target, target.label, target.aliases + [alias], caller, leave)
            }
        }
    }

    // A collection that is always there gets a row of the caller's group, which says what this group calls it.
    private func store(
        _ collection: SecretCollection, _ label: String, _ aliases: [String], _ caller: Caller,
        _ leave: @escaping Leave
    ) async throws(Refusal) {
        guard let row = collection.row else {
            _ = try await make(label, aliases, collection.name, caller, leave)
            return
        }
        var attributes = AttributeSet()
        attributes[.label] = .text(Array(label.utf8))
        attributes[.aliases] = .bytes(Self.encoded(aliases))
        try await desk.vault.updateInternal(
            { () throws(Refusal) in try leave(nil) }, .secretServiceCollection, row, attributes)
    }

    private static func encoded(_ names: [String]) -> [UInt8] {
        LookupAttributes(Dictionary(names.map { ($0, "") }) { first, _ in first }).encoded
    }
}
