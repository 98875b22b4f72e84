internal import BrokerGate
public import BrokerModel
internal import BrokerPeers
internal import BrokerVault
internal import SDBus
public import Sodium

extension Desk {
    /// `Add`.
    public func add(
        _ context: CallContext, _ attributes: WireDictionary, _ secret: SharedSecret
    ) throws(Refusal) -> Outcome<StoredItem> {
        try withCaller(context) { (caller) throws(Refusal) in
            try self.gate.admit(caller, [.add], naming: self.gate.target(attributes.namedGroup, of: caller))
            let item = try NewItem(attributes, for: .add, now: self.outlet.now())
            _ = try self.gate.grantForAdding(caller, [.add], to: item.accessGroup)
            return try self.waiting(caller, bytes: secret.secret.count + item.attributes.byteCount) {
                () async throws(Refusal) in
                let secret = try await self.vault.incoming(secret, item.applicationPassword)
                let stored = try await self.binding { (fingers) async throws(Refusal) in
                    try await self.vault.add(
                        { () throws(Refusal) in
                            try self.gate.grantForAdding(caller, [.add], to: item.accessGroup, again: true)
                        }, item, secret, fingers: fingers)
                }
                self.leaveUpkeep(expires: item.expires)
                return stored
            }
        }
    }

    /// `Store`.
    public func store(
        _ context: CallContext, _ attributes: WireDictionary, _ secret: SharedSecret
    ) throws(Refusal) -> Outcome<StoredItem> {
        try withCaller(context) { (caller) throws(Refusal) in
            try self.gate.admit(
                caller, [.add, .update], naming: self.gate.target(attributes.namedGroup, of: caller))
            let item = try NewItem(attributes, for: .store, now: self.outlet.now())
            _ = try self.gate.grantForAdding(caller, [.add, .update], to: item.accessGroup)
            return try self.waiting(caller, bytes: secret.secret.count + item.attributes.byteCount) {
                () async throws(Refusal) in
                let secret = try await self.vault.incoming(secret, item.applicationPassword)
                let stored = try await self.binding { (fingers) async throws(Refusal) in
                    try await self.vault.storeItem(
                        { () throws(Refusal) in
                            try self.gate.grantForAdding(
                                caller, [.add, .update], to: item.accessGroup, again: true)
                        }, item, secret, fingers: fingers)
                }
                self.leaveUpkeep(expires: item.expires)
                return stored
            }
        }
    }

    /// `Read`.
    public func read(
        _ context: CallContext, _ query: WireDictionary
    ) throws(Refusal) -> Outcome<ItemWithSecret> {
        if let caller = peers.known(context.connection) { return try read(caller, context, query) }
        return try withCaller(context) { (caller) throws(Refusal) in
            try self.read(caller, context, query)
        }
    }

    private func read(
        _ caller: Caller, _ context: CallContext, _ query: WireDictionary
    ) throws(Refusal) -> Outcome<ItemWithSecret> {
        try gate.admit(caller, [.read], naming: query.namedGroup)
        let query = try Query(query, for: .read)
        return try asking(caller, context, to: .read) { (proofs, again) throws(Refusal) in
            try self.read(caller, query, proofs, again)
        }
    }

    private func read(
        _ caller: Caller, _ query: Query, _ proofs: Proofs, _ again: Bool
    ) throws(Refusal) -> Outcome<ItemWithSecret> {
        defer { leaveUpkeep() }
        let item = try vault.read(
            gate.grant(caller, [.read], in: query.accessGroup, again: again), query, proofs)
        guard item.needsApplicationPassword else {
            gate.recordRead(caller, .read, item.attributes.accessGroup)
            return .now(item)
        }
        return try opening(caller, query.applicationPassword) { () throws(Refusal) in
            [
                try self.vault.read(
                    self.gate.grant(caller, [.read], in: query.accessGroup, again: true), query, proofs)
            ]
        }.map { $0[0] }
    }

    /// `ReadAll`.
    public func readAll(
        _ context: CallContext, _ query: WireDictionary
    ) throws(Refusal) -> Outcome<[ItemWithSecret]> {
        try withCaller(context) { (caller) throws(Refusal) in
            try self.gate.admit(caller, [.read], naming: query.namedGroup)
            let query = try Query(query, for: .list)
            return try self.asking(caller, context, to: .read) { (proofs, again) throws(Refusal) in
                try self.readAll(caller, query, proofs, again)
            }
        }
    }

    private func readAll(
        _ caller: Caller, _ query: Query, _ proofs: Proofs, _ again: Bool
    ) throws(Refusal) -> Outcome<[ItemWithSecret]> {
        let read = { (again: Bool) throws(Refusal) in
            defer { self.leaveUpkeep() }
            return try self.vault.readAll(
                self.gate.grant(caller, [.read], in: query.accessGroup, again: again), query, proofs)
        }
        let items = try read(again)
        guard items.contains(where: \.needsApplicationPassword) else {
            record(caller, items)
            return .now(items)
        }
        return try opening(caller, query.applicationPassword) { () throws(Refusal) in try read(true) }
    }

    // Items under an application password, whose keys take a while to derive.
    private func opening(
        _ caller: Caller, _ password: SharedSecret?,
        _ read: @escaping () throws(Refusal) -> [ItemWithSecret]
    ) throws(Refusal) -> Outcome<[ItemWithSecret]> {
        try waiting(caller, bytes: 0) { () async throws(Refusal) in
            let opened = try await self.vault.opening(password, read)
            self.record(caller, opened)
            return opened
        }
    }

    private func record(_ caller: Caller, _ items: [ItemWithSecret]) {
        for item in items { gate.recordRead(caller, .read, item.attributes.accessGroup) }
    }

    /// `Search`.
    public func search(
        _ context: CallContext, _ query: WireDictionary
    ) throws(Refusal) -> Outcome<[ItemAttributes]> {
        if let caller = peers.known(context.connection) { return try search(caller, context, query) }
        return try withCaller(context) { (caller) throws(Refusal) in
            try self.search(caller, context, query)
        }
    }

    private func search(
        _ caller: Caller, _ context: CallContext, _ query: WireDictionary
    ) throws(Refusal) -> Outcome<[ItemAttributes]> {
        try gate.admit(caller, [.search], naming: query.namedGroup)
        let query = try Query(query, for: .list)
        return try asking(caller, context, to: .search) { (proofs, again) throws(Refusal) in
            defer { self.leaveUpkeep() }
            return .now(
                try self.vault.search(
                    self.gate.grant(caller, [.search], in: query.accessGroup, again: again), query, proofs))
        }
    }

    /// `Update`. A named group is judged before the rest of the query (SEMANTICS 3.0).
    public func update(
        _ context: CallContext, _ query: WireDictionary, _ changes: WireDictionary, _ secret: SharedSecret?
    ) throws(Refusal) -> Outcome<UInt32> {
        try withCaller(context) { (caller) throws(Refusal) in
            _ = try self.gate.grant(caller, [.update], in: query.namedGroup)
            let query = try Query(query, for: .update)
            let changes = try Changes(changes, now: self.outlet.now())
            if let target = changes.accessGroup { _ = try self.gate.grant(caller, [.add], in: target) }
            return try self.waiting(
                caller, bytes: (secret?.secret.count ?? 0) + changes.attributes.byteCount
            ) { () async throws(Refusal) in
                defer { self.leaveUpkeep(expires: changes.expires) }
                var incoming: IncomingSecret?
                if let secret {
                    incoming = try await self.vault.incoming(secret, query.applicationPassword)
                }
                return try await self.asking(caller, context, to: .update) { (proofs, _) throws(Refusal) in
                    .later { () async throws(Refusal) in
                        try await self.update(caller, query, changes, incoming, proofs)
                    }
                }.value()
            }
        }
    }

    private func update(
        _ caller: Caller, _ query: Query, _ changes: Changes, _ incoming: IncomingSecret?, _ proofs: Proofs
    ) async throws(Refusal) -> UInt32 {
        let authorize = { () throws(Refusal) in
            try self.gate.grant(caller, [.update], in: query.accessGroup, again: true)
        }
        let verified = try await verified(query, proofs, authorize)
        return try await vault.update(
            authorize, query, changes, incoming, verified: verified, proofs: proofs)
    }

    // The items whose application password the query brings, at the revision that it was tried on.
    private func verified(
        _ query: Query, _ proofs: Proofs, _ authorize: () throws(Refusal) -> Grant
    ) async throws(Refusal) -> [Reference: UInt64] {
        guard let password = query.applicationPassword else { return [:] }
        let items = try await vault.opening(password) { () throws(Refusal) in
            try self.vault.readAll(authorize(), query, proofs)
        }
        var verified: [Reference: UInt64] = [:]
        for item in items { verified[item.attributes.reference] = item.attributes.revision }
        return verified
    }

    /// `Delete`.
    public func delete(_ context: CallContext, _ query: WireDictionary) throws(Refusal) -> Outcome<UInt32> {
        try withCaller(context) { (caller) throws(Refusal) in
            _ = try self.gate.grant(caller, [.delete], in: query.namedGroup)
            let query = try Query(query, for: .delete)
            return try self.waiting(caller, bytes: 0) { () async throws(Refusal) in
                defer { self.leaveUpkeep() }
                return try await self.vault.delete(
                    { () throws(Refusal) in
                        try self.gate.grant(caller, [.delete], in: query.accessGroup, again: true)
                    }, query)
            }
        }
    }

    /// `Logout`.
    public func logout(
        _ context: CallContext, group: String, service: String, reason: String
    ) throws(Refusal) -> Outcome<LogoutOutcome> {
        try withCaller(context) { (caller) throws(Refusal) in
            try self.gate.admit(caller, [.logout], naming: AccessGroup(group))
            let group = try Self.group(group)
            try Self.checkTexts(service, reason)
            _ = try self.gate.grant(caller, [.logout], in: group)
            return try self.waiting(caller, bytes: 0) { () async throws(Refusal) in
                defer { self.leaveUpkeep() }
                return try await self.vault.logout(
                    { () throws(Refusal) in
                        try self.gate.grant(caller, [.logout], in: group, again: true)
                    },
                    service: service, reason: reason, always: false)
            }
        }
    }

    /// A group by its name; a name that no group has is a group that the caller lacks.
    static func group(_ name: String) throws(Refusal) -> AccessGroup {
        guard let group = AccessGroup(name) else { throw .missingGroup }
        return group
    }

    static func checkTexts(_ service: String, _ reason: String) throws(Refusal) {
        guard service.utf8.count <= Limits.attributeValueBytesMax,
            reason.utf8.count <= Limits.logoutReasonBytesMax
        else {
            throw Refusal(.tooLarge, "A service has 64 KiB at most, and a reason 1 KiB.")
        }
    }
}
