internal import BrokerGate
public import BrokerModel
internal import SQLite
public import Sodium

/// Items of the internal classes, which are known by their references. Nobody is told of them: whoever asks for a change
/// tells who may hear of it.
extension Vault {
    /// Adds an item to the grant's one group. Where `replacing` is given, an item of the same collection with the same
    /// lookup attributes, among those that it reaches, is changed instead: the one that was changed last, which keeps
    /// its group and its protection. Returns when it is durable.
    public func addInternal(
        _ authorize: @escaping Authorization, replacing: Authorization? = nil, _ item: InternalItem,
        _ secret: SharedSecret
    ) async throws(Refusal) -> StoredItem {
        try await change { (writer, store) throws(Refusal) in
            if let replacing {
                let grant = try replacing()
                if let (row, attributes) = try self.newest(equalTo: item, store, grant) {
                    let content = try Self.content(attributes, item.attributes)
                    let header = try self.put(content, secret, in: row, writer, grant)
                    return (
                        StoredItem(reference: header.reference, revision: header.revision, created: false), []
                    )
                }
            }
            let grant = try authorize()
            let group = grant.groups[0]
            let content = ItemWriter.Content(
                itemClass: item.itemClass, group: group,
                protection: .accessible(grant.rules(of: group).internalAccessible), synchronizable: false,
                attributes: item.attributes)
            try writer.checkProtection(content.protection, group, grant)
            let header = try writer.put(
                content, secret, reference: ItemWriter.newReference(), created: writer.now, replacing: nil,
                rules: grant.rules(of: group))
            return (StoredItem(reference: header.reference, revision: header.revision, created: true), [])
        }
    }

    /// Changes the one item that has the reference: those of its attributes that `attributes` has, and with a secret that
    /// too. Returns when it is durable. `ItemNotFound`, `Decode`, `InteractionNotAllowed`.
    public func updateInternal(
        _ authorize: @escaping Authorization, _ itemClass: ItemClass, _ reference: Reference,
        _ attributes: AttributeSet, _ secret: SharedSecret? = nil
    ) async throws(Refusal) {
        try await change { (writer, store) throws(Refusal) in
            let grant = try authorize()
            let query = Query(internal: itemClass, reference: reference)
            guard let (row, old) = try self.row(query, store, grant) else { throw .itemNotFound }
            guard let secret = secret ?? self.keptSecret(of: row) else { throw .damagedItem }
            _ = try self.put(Self.content(old, attributes), secret, in: row, writer, grant)
            return ((), [])
        }
    }

    /// Deletes what the queries mean, in one step, and returns when that is durable. `ItemNotFound` where nothing is
    /// meant.
    public func deleteInternal(
        _ authorize: @escaping Authorization, _ queries: [Query]
    ) async throws(Refusal) {
        try await change { (writer, store) throws(Refusal) in
            let grant = try authorize()
            var isSomethingGone = false
            for query in queries {
                for row in try self.deletable(query, store, grant) {
                    try stored { () throws(SQLiteError) in try writer.remove(row) }
                    isSomethingGone = true
                }
            }
            guard isSomethingGone else { throw .itemNotFound }
            return ((), [])
        }
        needsCheckpoint = true
    }

    private func put(
        _ content: ItemWriter.Content, _ secret: SharedSecret, in row: AnyRow, _ writer: ItemWriter,
        _ grant: borrowing Grant
    ) throws(Refusal) -> RowHeader {
        try writer.put(
            content, secret, reference: row.header.reference, created: row.header.created, replacing: row,
            rules: grant.rules(of: content.group))
    }

    // A damaged one is passed over: nobody can tell whether it is the one that is meant.
    private func newest(
        equalTo item: InternalItem, _ store: Store, _ grant: borrowing Grant
    ) throws(Refusal) -> (AnyRow, ItemAttributes)? {
        var wanted = AttributeSet()
        wanted[.collection] = item.attributes[.collection]
        wanted.lookup = item.attributes.lookup
        var newest: (AnyRow, ItemAttributes)?
        let query = Query(internal: item.itemClass, wanted)
        try selection(store.writing, store).rows(
            query, grant, withSecret: false, seenExpired: &seenExpired
        ) { (row) throws(Refusal) in
            guard let attributes = try attributes(of: row, query),
                attributes.attributes.lookup == wanted.lookup
            else { return .next }
            // They come oldest first.
            if attributes.modified >= newest?.1.modified ?? 0 { newest = (row, attributes) }
            return .next
        }
        return newest
    }

    private func row(
        _ query: Query, _ store: Store, _ grant: borrowing Grant
    ) throws(Refusal) -> (AnyRow, ItemAttributes)? {
        var found: (AnyRow, ItemAttributes)?
        try selection(store.writing, store).rows(
            query, grant, withSecret: true, seenExpired: &seenExpired
        ) { (row) throws(Refusal) in
            guard let attributes = try attributes(of: row, query) else { throw .damagedItem }
            found = (row, attributes)
            return .stop
        }
        return found
    }

    private static func content(
        _ old: ItemAttributes, _ changes: AttributeSet
    ) throws(Refusal) -> ItemWriter.Content {
        var content = ItemWriter.Content(
            itemClass: old.itemClass, group: old.accessGroup, protection: old.protection,
            synchronizable: old.synchronizable, attributes: old.attributes, expires: old.expires,
            freshUntil: old.freshUntil)
        for pair in changes.pairs {
            guard pair.key.belongs(to: old.itemClass) else { throw .foreignAttribute }
            content.attributes[pair.key] = pair.value
        }
        try content.attributes.checkSize()
        return content
    }
}

extension Vault {
    /// The groups that hold anything, by name.
    public func groups() throws(Refusal) -> [AccessGroup] {
        let store = try openStore()
        return try stored { () throws(SQLiteError) in try store.reading.groups.all().map(\.group) }
    }

    /// A reference that nothing has.
    public static func newReference() -> Reference { ItemWriter.newReference() }
}
