internal import BrokerGate
public import BrokerModel
internal import SQLite

extension Vault {
    /// Deletes every match, all or nothing, locked, gated and damaged ones too. Returns how many, when that
    /// is durable.
    public func delete(_ authorize: @escaping Authorization, _ query: Query) async throws(Refusal) -> UInt32 {
        let deleted = try await change { (writer, store) throws(Refusal) -> (UInt32, [Notice]) in
            let grant = try authorize()
            let rows = try self.deletable(query, store, grant)
            if rows.isEmpty { throw .itemNotFound }
            try stored { () throws(SQLiteError) in
                for row in rows { try writer.remove(row) }
            }
            return (UInt32(rows.count), rows.map { .changed($0.header, .removed, side: $0.side) })
        }
        needsCheckpoint = true
        return deleted
    }

    func deletable(
        _ query: Query, _ store: Store, _ grant: borrowing Grant
    ) throws(Refusal) -> [AnyRow] {
        var rows: [AnyRow] = []
        try selection(store.writing, store).rows(
            query, grant, withSecret: false, seenExpired: &seenExpired
        ) { (row) throws(Refusal) in
            // An open row that is another item after all is not the caller's to delete here; one that is
            // locked or damaged is taken at its tokens' word.
            if case .item(let attributes) = keyring.open(row),
                !attributes.matches(query) || !grant.sees(attributes)
            {
                return .next
            }
            if let wanted = query.ifRevision, wanted != row.header.revision {
                throw .revisionMismatch(current: row.header.revision)
            }
            rows.append(row)
            return .next
        }
        return rows
    }

    /// Deletes the items of a service, or with an empty service the whole group's, of every class, locked or
    /// not. `always`: raises the epoch even where nothing was there, since a helper may hold what the store
    /// no longer has.
    public func logout(
        _ authorize: @escaping Authorization, service: String, reason: String, always: Bool
    ) async throws(Refusal) -> LogoutOutcome {
        let outcome = try await write { (store) throws(Refusal) -> (LogoutOutcome, [Notice]) in
            let group = try authorize().groups[0]
            return try stored { () throws(SQLiteError) in
                let rows = try self.takeAway(service, group, store)
                let groups = store.writing.groups
                guard rows != 0 || always else {
                    return (LogoutOutcome(deleted: 0, epoch: try groups.epoch(of: group)), [])
                }
                let epoch = try groups.nextEpoch(groups.makeID(of: group))
                return (
                    LogoutOutcome(deleted: rows ?? 0, epoch: epoch),
                    [.loggedOut(group: group, service: service, epoch: epoch, reason: reason)]
                )
            }
        }
        needsCheckpoint = true
        return outcome
    }

    // Nil where the first unlock must do it.
    private func takeAway(
        _ service: String, _ group: AccessGroup, _ store: Store
    ) throws(SQLiteError) -> UInt32? {
        guard let index = keyring.index else {
            try rememberLogout(of: service, group, store)
            return nil
        }
        let writer = itemWriter(store, index)
        let rows = try rows(of: service, group, writer)
        for row in rows { try writer.remove(row) }
        return UInt32(rows.count { $0.header.itemClass != .secretServiceSecret })
    }

    /// The rows of a service in a group; all of the group's where the service is empty.
    func rows(
        of service: String, _ group: AccessGroup, _ writer: ItemWriter, withSecret: Bool = false
    ) throws(SQLiteError) -> [AnyRow] {
        guard let groupID = try writer.tables.groups.id(of: group) else { return [] }
        var rows: [AnyRow] = []
        for itemClass in ItemClass.allCases {
            guard let token = token(of: service, itemClass, group, writer.index) else { continue }
            for candidate in try writer.tables.index.candidates([token]) where candidate.groupID == groupID {
                let row = try writer.tables.row(candidate.id, candidate.side, withSecret: withSecret)
                if let row, row.header.groupID == groupID { rows.append(row) }
            }
        }
        return rows
    }

    private func token(
        of service: String, _ itemClass: ItemClass, _ group: AccessGroup, _ index: IndexKey
    ) -> [UInt8]? {
        if service.isEmpty { return index.token(of: itemClass, in: group) }
        return itemClass.service.map { index.token(of: $0, .text(Array(service.utf8)), itemClass: itemClass) }
    }
}
