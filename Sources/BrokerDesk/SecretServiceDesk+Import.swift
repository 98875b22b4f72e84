internal import BrokerGate
internal import BrokerModel
internal import BrokerPeers
internal import BrokerPolicy
internal import BrokerVault
internal import SDBus
internal import Sodium

/// Items that an administrator brings in from another keyring.
extension SecretServiceDesk {
    /// Looks for the item in a collection by that label, `login` where it is empty, and puts it there as `mode` has it. It is
    /// the same as one that has the same attributes there. With no group every group is looked at, and what is new is
    /// everybody's of whom nothing is known; a secret of the portal's is the portal's in any case.
    func bringIn(
        _ content: SecretItem.Content, to label: String, in group: AccessGroup?, _ secret: SharedSecret,
        _ mode: ImportMode, _ caller: Caller, _ leave: @escaping Reception.Leave
    ) throws(Refusal) -> Outcome<Imported> {
        try Self.checkSize(content)
        try Self.checkSize(label)
        guard desk.vault.state != .beforeFirstUnlock else { throw .collectionLocked }
        let target = try target(of: content, group)
        let entry = Entry(
            content: content, label: content.isOfPortal ? "" : label, secret: secret, target: target,
            groups: try content.isOfPortal || group != nil
                ? [target] : [target] + desk.vault.groups().filter { $0 != target })
        let found = try standing(of: entry, caller, leave)
        if mode == .look || found.isFinal(for: mode) { return .now(found.imported) }
        return try desk.waiting(caller, bytes: secret.secret.count + content.label.utf8.count) {
            () async throws(Refusal) in
            // Two that bring in the same at once leave it once, and one collection.
            await self.namers.take()
            defer { self.namers.pass() }
            let found = try self.standing(of: entry, caller, leave)
            if found.isFinal(for: mode) { return found.imported }
            return try await self.put(entry, found, leave)
        }
    }

    private struct Entry {
        let content: SecretItem.Content
        let label: String
        let secret: SharedSecret
        let target: AccessGroup
        /// Those that are looked at, `target` first.
        let groups: [AccessGroup]
    }

    private struct Standing {
        let item: ItemAttributes?
        let imported: Imported

        func isFinal(for mode: ImportMode) -> Bool {
            imported.outcome == .there || imported.outcome == .different && mode != .replace
        }
    }

    private func target(
        of content: SecretItem.Content, _ group: AccessGroup?
    ) throws(Refusal) -> AccessGroup {
        if content.isOfPortal {
            if let group = desk.gate.policy.portalGroup { return group }
            throw Refusal(
                .notAvailable,
                "The policy names no portal (Portal= in [SecretService]) whose this secret could be.")
        }
        if let group { return group }
        guard desk.gate.policy.secretService.unidentified == .share else {
            throw Refusal(
                .missingEntitlement,
                "The policy gives unidentified programs no group; name the group of a program.")
        }
        return Gate.unidentified
    }

    // The same secret, wherever it is; else the first that has the same attributes.
    private func standing(
        of entry: Entry, _ caller: Caller, _ leave: Reception.Leave
    ) throws(Refusal) -> Standing {
        var different: Standing?
        for group in entry.groups {
            let grant = desk.gate.administer(try leave(), group)
            guard let id = try collectionID(entry.label, grant) else { continue }
            try checkOpen(id)
            let found = try equals(of: entry, in: id, grant)
            if !found.isEmpty { desk.gate.recordRead(caller, .read, group) }
            for one in found {
                let isSame = one.secret.secret.isEqual(to: entry.secret.secret)
                let standing = Standing(
                    item: one.attributes,
                    imported: Imported(
                        isSame ? .there : .different, in: group, modified: one.attributes.modified))
                if isSame { return standing }
                if different == nil { different = standing }
            }
        }
        return different ?? Standing(item: nil, imported: Imported(.absent, in: entry.target))
    }

    // Notes have no attribute that tells one from another, so there the label does.
    private func equals(
        of entry: Entry, in id: SecretCollection.ID, _ grant: borrowing Grant
    ) throws(Refusal) -> [ItemWithSecret] {
        var wanted = AttributeSet()
        wanted[.collection] = id.attribute
        if !entry.content.lookup.pairs.isEmpty { wanted.lookup = entry.content.lookup }
        let label = Array(entry.content.label.utf8)
        let isNote = entry.content.lookup.pairs.allSatisfy { $0.name == Array("xdg:schema".utf8) }
        return try desk.everyMatch(Query(internal: .secretServiceItem, wanted), grant).filter {
            $0.attributes.attributes.lookup == entry.content.lookup
                && (!isNote || $0.attributes.attributes[.label]?.blob ?? [] == label)
        }
    }

    private func collectionID(
        _ label: String, _ grant: borrowing Grant
    ) throws(Refusal) -> SecretCollection.ID? {
        if label.isEmpty { return .login }
        let found = try collections(grant).first {
            if case .made = $0.id { $0.label == label } else { false }
        }
        return found?.id
    }

    private func put(
        _ entry: Entry, _ found: Standing, _ leave: @escaping Reception.Leave
    ) async throws(Refusal) -> Imported {
        defer { desk.leaveUpkeep() }
        let group = found.imported.group
        let authorize = { () throws(Refusal) in self.desk.gate.administer(try leave(), group) }
        var attributes = AttributeSet()
        attributes[.label] = .text(Array(entry.content.label.utf8))
        attributes[.contentType] = .text(Array(entry.content.contentType.utf8))
        if let old = found.item {
            try await desk.vault.updateInternal(
                authorize, .secretServiceItem, old.reference, attributes, entry.secret)
            try tell(of: old.reference, entry.label, isNew: false, authorize())
            return Imported(.replaced, in: group, modified: desk.outlet.now())
        }
        let id: SecretCollection.ID
        if let known = try collectionID(entry.label, authorize()) {
            id = known
        } else {
            id = try await makeCollection(entry.label, authorize)
        }
        attributes[.collection] = id.attribute
        attributes.lookup = entry.content.lookup
        let stored = try await desk.vault.addInternal(
            authorize, try InternalItem(.secretServiceItem, attributes), entry.secret)
        try tell(of: stored.reference, entry.label, isNew: true, authorize())
        return Imported(.added, in: group, modified: desk.outlet.now())
    }

    private func makeCollection(
        _ label: String, _ authorize: @escaping Vault.Authorization
    ) async throws(Refusal) -> SecretCollection.ID {
        var attributes = AttributeSet()
        attributes[.label] = .text(Array(label.utf8))
        attributes[.aliases] = .bytes(LookupAttributes().encoded)
        let stored = try await desk.vault.addInternal(
            authorize, try InternalItem(.secretServiceCollection, attributes),
            SharedSecret(Secret(count: 0) { _ in }))
        let made = try collection(.name(stored.reference.description), authorize())
        arrived(.collection(made))
        return made.id
    }

    private func tell(
        of reference: Reference, _ label: String, isNew: Bool, _ grant: borrowing Grant
    ) throws(Refusal) {
        let query = Query(internal: .secretServiceItem, reference: reference)
        guard let row = try desk.vault.search(grant, query).first,
            let id = SecretCollection.ID(attribute: row.attributes[.collection])
        else { return }
        let name = try collections(grant).first { $0.id == id }?.name ?? "login"
        arrived(isNew ? .item(record(row, id, name)) : .changedItem(record(row, id, name)))
    }
}

extension SecretItem.Content {
    /// Whether it is the secret that a portal keeps for a sandboxed application.
    fileprivate var isOfPortal: Bool {
        let names = lookup.dictionary
        return names["app_id"] != nil && names["xdg:schema"] == "org.freedesktop.portal.Secret"
    }
}
