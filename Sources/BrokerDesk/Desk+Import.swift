internal import BrokerGate
public import BrokerModel
internal import BrokerPeers
internal import BrokerVault
internal import SDBus
public import Sodium

extension Desk {
    /// `ImportItem`: an item of the contract. No secret goes back: the broker itself says whether the one that is there is
    /// the same.
    public func importItem(
        _ context: CallContext, group name: String, mode: String, _ attributes: WireDictionary,
        _ secret: SharedSecret
    ) throws(Refusal) -> Outcome<Imported> {
        try managing(context, "import-item", .administrator) { (caller, leave) throws(Refusal) in
            _ = try leave()
            let mode = try ImportMode(named: mode)
            let item = try Self.imported(attributes, now: self.outlet.now())
            let group = try name.isEmpty ? self.ownGroup(of: caller) : Self.administered(name)
            let authorize = { () throws(Refusal) in self.gate.administer(try leave(), group) }
            let found = try self.standing(of: item, attributes, secret, authorize(), caller)
            if mode == .look || found.isFinal(for: mode) { return .now(found.imported(in: group)) }
            return try self.waiting(caller, bytes: secret.secret.count + item.attributes.byteCount) {
                () async throws(Refusal) in
                try await self.put(item, attributes, secret, mode, group, authorize, caller)
            }
        }
    }

    /// `ImportSecret`: an item of existing programs.
    public func importSecret(
        _ context: CallContext, group: String, mode: String, collection: String,
        _ content: SecretItem.Content, _ secret: SharedSecret
    ) throws(Refusal) -> Outcome<Imported> {
        try managing(context, "import-secret", .administrator) { (caller, leave) throws(Refusal) in
            _ = try leave()
            // It is there whoever has the name.
            guard let secretService = self.secretService else {
                throw Refusal(.notAvailable, "The broker of the system has no org.freedesktop.secrets.")
            }
            let mode = try ImportMode(named: mode)
            let group = try group.isEmpty ? nil : Self.administered(group)
            return try secretService.bringIn(
                content, to: collection, in: group, secret, mode, caller, leave)
        }
    }

    private static func imported(_ attributes: WireDictionary, now: UInt64) throws(Refusal) -> NewItem {
        let item = try NewItem(attributes, for: .add, now: now)
        guard item.accessGroup == nil else {
            throw .param("The group of an import stands before its attributes.")
        }
        guard item.protection?.isGated != true else {
            throw .param("What asks for a person or a password cannot be compared, and so not be imported.")
        }
        return item
    }

    private func ownGroup(of caller: Caller) throws(Refusal) -> AccessGroup {
        guard let group = gate.target(nil, of: caller) else {
            throw Refusal(
                .missingEntitlement,
                "This program has no access group of its own; name one that the policy gives.")
        }
        return group
    }

    // What stands in its place may have changed since it was looked at: each step refuses that, and it is looked at again.
    private func put(
        _ item: NewItem, _ attributes: WireDictionary, _ secret: SharedSecret, _ mode: ImportMode,
        _ group: AccessGroup, _ authorize: @escaping Vault.Authorization, _ caller: Caller
    ) async throws(Refusal) -> Imported {
        let found = try standing(of: item, attributes, secret, authorize(), caller)
        if found.isFinal(for: mode) { return found.imported(in: group) }
        defer { leaveUpkeep(expires: item.expires) }
        do throws(Refusal) {
            let incoming = try await vault.incoming(secret, nil)
            guard let old = found.item else {
                _ = try await vault.add(authorize, item, incoming)
                return Imported(.added, in: group, modified: outlet.now())
            }
            var conditional = attributes
            try conditional.append("IfRevision", .time(old.revision))
            let item = try NewItem(conditional, for: .store, now: outlet.now())
            _ = try await vault.storeItem(authorize, item, incoming)
            return Imported(.replaced, in: group, modified: outlet.now())
        } catch {
            guard error.kind == .duplicateItem || error.kind == .revisionMismatch else { throw error }
            return try standing(of: item, attributes, secret, authorize(), caller).imported(in: group)
        }
    }

    private struct Standing {
        let item: ItemAttributes?
        let isSame: Bool

        func isFinal(for mode: ImportMode) -> Bool { isSame || item != nil && mode != .replace }

        func imported(in group: AccessGroup) -> Imported {
            guard let item else { return Imported(.absent, in: group) }
            return Imported(isSame ? .there : .different, in: group, modified: item.modified)
        }
    }

    private func standing(
        of item: NewItem, _ attributes: WireDictionary, _ secret: SharedSecret, _ grant: borrowing Grant,
        _ caller: Caller
    ) throws(Refusal) -> Standing {
        let key = item.itemClass.primaryKey
        let found = try everyMatch(Query(item.primaryKey(attributes), for: .list), grant)
        let same = found.first { (one) in
            one.attributes.synchronizable == item.synchronizable
                && key.allSatisfy { one.attributes.attributes.has($0, as: item.attributes) }
        }
        guard let same else { return Standing(item: nil, isSame: false) }
        gate.recordRead(caller, .read, same.attributes.accessGroup)
        let isSame =
            same.secret.secret.isEqual(to: secret.secret)
            && (item.attributes[.generic] == nil
                || same.attributes.attributes.has(.generic, as: item.attributes))
        return Standing(item: same.attributes, isSame: isSame)
    }

    /// Every match with its secret, maybe none. What is damaged is none: an addition takes its place.
    func everyMatch(_ query: Query, _ grant: borrowing Grant) throws(Refusal) -> [ItemWithSecret] {
        do throws(Refusal) {
            return try vault.readAll(grant, query)
        } catch {
            if error.kind == .itemNotFound || error.kind == .decode { return [] }
            throw error
        }
    }
}

extension ImportMode {
    fileprivate init(named name: String) throws(Refusal) {
        guard let mode = ImportMode(rawValue: name) else {
            throw .param("An import's mode is look, add or replace.")
        }
        self = mode
    }
}

extension NewItem {
    // A query says of an attribute that is empty nothing: it may be left out where it is stored.
    fileprivate func primaryKey(_ attributes: WireDictionary) throws(Refusal) -> WireDictionary {
        var query = WireDictionary()
        try query.append("Synchronizable", .text(Array("any".utf8)))
        for (key, value) in attributes.entries {
            let isOfKey = itemClass.primaryKey.contains {
                $0.name == key && self.attributes[$0]?.isEmpty == false
            }
            if key == "Class" || isOfKey { try query.append(key, value) }
        }
        return query
    }
}

extension AttributeSet {
    /// Whether both have the same value there; what is left out is empty.
    fileprivate func has(_ key: AttributeKey, as other: AttributeSet) -> Bool {
        switch (self[key], other[key]) {
        case (let own?, let other?): own.matches(other) || own.isEmpty && other.isEmpty
        case (let value?, nil), (nil, let value?): value.isEmpty
        case (nil, nil): true
        }
    }
}
