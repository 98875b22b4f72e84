internal import BrokerGate
public import BrokerModel
internal import SQLite
public import Sodium

extension Vault {
    /// Lets the application refresh the item, if it still has that revision. Returns when the grant is durable; whatever
    /// was open of the item is passed on with it. A grant of an earlier broker in the same boot blocks this one.
    public func grantRefresh(
        _ authorize: @escaping Authorization, of reference: Reference, at revision: UInt64,
        _ terms: RefreshTerms
    ) async throws(Refusal) -> RefreshGrant {
        try await change { (writer, store) throws(Refusal) in
            let grant = try authorize()
            let fits = try self.row(of: reference, at: revision, store, grant) != nil
            guard fits else { return (.changed, []) }
            return try stored { () throws(SQLiteError) in
                let grants = RefreshGrantTable(database: store.writing.database)
                let firstOwn = try self.firstOwnFence(store)
                if let open = try grants.open(of: reference), open.fence < firstOwn,
                    open.revision == revision, open.boot == terms.boot, open.deadline > terms.now
                {
                    return (.blocked(until: open.deadline), [])
                }
                let fence = UInt64(try Numbers(database: store.writing.database).take(.nextFence))
                try grants.add(
                    RefreshGrantTable.Row(
                        fence: fence, reference: reference, revision: revision,
                        application: terms.application, boot: terms.boot, deadline: terms.deadline),
                    now: terms.now)
                return (.granted(fence: fence), [])
            }
        }
    }

    /// Stores what a refresh gave, and remembers it with its grant, in one step; a repetition gets the same revision.
    ///
    /// Where the item's class key is not in memory it is kept sealed until it is. `LeaseLost` where the grant is not the
    /// application's, or the item is not any more what it was granted for. `Param` for changes of a primary key.
    public func completeRefresh(
        _ authorize: @escaping Authorization, fence: UInt64, by application: String, _ changes: Changes,
        _ secret: SharedSecret
    ) async throws(Refusal) -> RefreshCompletion {
        try await write { (store) throws(Refusal) in
            let grant = try authorize()
            let grants = RefreshGrantTable(database: store.writing.database)
            let open = try stored { () throws(SQLiteError) in try grants.grant(fence) }
            guard let open, open.application == application else { throw .leaseLost }
            if let revision = open.completed {
                return (RefreshCompletion(reference: open.reference, revision: revision), [])
            }
            guard let row = try self.row(of: open.reference, at: open.revision, store, grant) else {
                throw .leaseLost
            }
            try Self.check(changes, for: row.header.itemClass)
            let (revision, notices) = try self.complete(row, changes, secret, store, grant)
            try stored { () throws(SQLiteError) in try grants.complete(fence, revision: revision) }
            return (RefreshCompletion(reference: open.reference, revision: revision), notices)
        }
    }

    /// Takes a grant back; returns the item that it was for. `LeaseLost` where it is not open, or not the application's.
    @discardableResult
    public func endRefresh(
        _ authorize: Authorization? = nil, fence: UInt64, by application: String
    ) async throws(Refusal) -> Reference {
        try await write { (store) throws(Refusal) in
            let grants = RefreshGrantTable(database: store.writing.database)
            let open = try stored { () throws(SQLiteError) in try grants.grant(fence) }
            guard let open, open.application == application, open.completed == nil else { throw .leaseLost }
            if let authorize,
                try self.row(of: open.reference, at: open.revision, store, try authorize()) == nil
            {
                throw .leaseLost
            }
            try stored { () throws(SQLiteError) in try grants.revoke(fence) }
            return (open.reference, [])
        }
    }

    /// The server said that the item is dead: deletes it, if it still has the revision that the grant was for, and tells
    /// the group. `service` is the item's, for one whose class key is not in memory.
    public func rejectRefresh(
        _ authorize: @escaping Authorization, fence: UInt64, by application: String, service: String?
    ) async throws(Refusal) {
        try await change { (writer, store) throws(Refusal) in
            let grant = try authorize()
            let grants = RefreshGrantTable(database: store.writing.database)
            let open = try stored { () throws(SQLiteError) in try grants.grant(fence) }
            guard let open, open.application == application, open.completed == nil,
                let row = try self.row(of: open.reference, at: open.revision, store, grant)
            else { throw .leaseLost }
            guard let service = self.service(of: row) ?? service else { throw .locked }
            return try stored { () throws(SQLiteError) in
                try grants.revoke(fence)
                try writer.remove(row)
                let epoch = try writer.tables.groups.nextEpoch(row.header.groupID)
                return (
                    (),
                    [
                        .changed(row.header, .removed, side: row.side),
                        .loggedOut(
                            group: row.header.group, service: service, epoch: epoch,
                            reason: RefreshFailure.rejected.rawValue),
                    ]
                )
            }
        }
        needsCheckpoint = true
    }

    // Nil for one that has changed, has ceased to exist, or is not the caller's.
    private func row(
        of reference: Reference, at revision: UInt64, _ store: Store, _ grant: borrowing Grant
    ) throws(Refusal) -> AnyRow? {
        let row = try stored { () throws(SQLiteError) in
            try store.writing.row(of: reference, withSecret: true)
        }
        guard let row, row.header.revision == revision, !row.header.itemClass.isInternal,
            grant.groups.contains(row.header.group), grant.sees(row.side), !row.header.hasExpired(at: now),
            !seenExpired.contains(row.header.id)
        else { return nil }
        return row
    }

    private func service(of row: AnyRow) -> String? {
        guard case .item(let item) = keyring.open(row) else { return nil }
        return item.service
    }

    private static func check(_ changes: Changes, for itemClass: ItemClass) throws(Refusal) {
        let isKey = changes.attributes.pairs.contains { itemClass.primaryKey.contains($0.key) }
        guard !isKey, changes.accessGroup == nil, changes.synchronizable == nil else {
            throw .param("A refresh changes no attribute of the primary key; Update does.")
        }
        guard changes.accessible == nil, changes.ifRevision == nil else {
            throw .param("A refresh takes attributes, Expires and FreshUntil, and nothing else.")
        }
        for pair in changes.attributes.pairs where !pair.key.belongs(to: itemClass) {
            throw .foreignAttribute
        }
    }

    private func complete(
        _ row: AnyRow, _ changes: Changes, _ secret: SharedSecret, _ store: Store, _ grant: borrowing Grant
    ) throws(Refusal) -> (UInt64, [Notice]) {
        switch keyring.open(row) {
        case .damaged: throw .damagedItem
        case .locked: return (try keep(changes, secret, for: row, store), [])
        case .item(let item):
            // Without the index key no row opens.
            guard let index = keyring.index else { throw .beforeFirstUnlock }
            let header = try itemWriter(store, index).put(
                try Self.content(item, changes), secret, reference: item.reference, created: item.created,
                replacing: row, rules: grant.rules(of: item.accessGroup))
            return (header.revision, [.changed(header, .updated, side: row.side)])
        }
    }

    // Before the first use of this process the next fence is the first of its own.
    private func firstOwnFence(_ store: Store) throws(SQLiteError) -> UInt64 {
        if let known = knownFirstFence { return known }
        let first = UInt64(try Numbers(database: store.writing.database).next(.nextFence))
        knownFirstFence = first
        return first
    }

    /// Whether the grant is of an earlier broker: then nobody knows which connection it was made to.
    public func isInherited(fence: UInt64) -> Bool { knownFirstFence.map { fence < $0 } ?? true }
}
