public import BrokerGate
public import BrokerModel
internal import SQLite
public import Sodium

/// Items of the internal classes, which are known by their references. Nobody is told of them: whoever asks for a change
/// tells who may hear of it.
extension Vault {
    /// Adds an item to the grant's one group. Where `replacing` is given, an item of the same collection with the same
    /// lookup attributes, among those that it reaches, is changed instead: the one that was changed last, which keeps
    /// its group. The secret gets the class that the policy gives it. Returns when it is durable.
    public func addInternal(
        _ authorize: @escaping Authorization, replacing: Authorization? = nil, _ item: InternalItem,
        _ secret: SharedSecret
    ) async throws(Refusal) -> StoredItem {
        try await change { (writer, store) throws(Refusal) in
            if let replacing {
                let grant = try replacing()
                if let (row, attributes) = try self.newest(equalTo: item, store, grant) {
                    let content = try Self.content(attributes, item.attributes)
                    let header = try self.rewrite(row, content, secret, hasNewLookup: true, writer, grant)
                    return (
                        StoredItem(reference: header.reference, revision: header.revision, created: false), []
                    )
                }
            }
            return (try self.insert(item, secret, writer, authorize()), [])
        }
    }

    /// Adds an item to the first of the grant's groups.
    func insert(
        _ item: InternalItem, _ secret: SharedSecret, _ writer: ItemWriter, _ grant: borrowing Grant
    ) throws(Refusal) -> StoredItem {
        let group = grant.groups[0]
        let rules = grant.rules(of: group)
        let secretAccessible = grant.secretAccessible(of: item.attributes.lookup, in: group)
        let accessible = rules.internalAccessible(isSecretApart: secretAccessible != nil)
        var content = ItemWriter.Content(
            itemClass: item.itemClass, group: group, protection: .accessible(accessible),
            synchronizable: false, attributes: item.attributes)
        if item.itemClass == .secretServiceItem { content.attributes.secretAccessible = secretAccessible }
        try writer.checkReach(of: secretAccessible ?? accessible, group, grant)
        let header = try Self.put(
            content, secret, reference: ItemWriter.newReference(), created: writer.now, replacing: nil,
            writer, rules)
        return StoredItem(reference: header.reference, revision: header.revision, created: true)
    }

    /// Changes the one item that has the reference: those of its attributes that `attributes` has, and with a secret that
    /// too, which gets the class that the policy gives it. Without one a secret goes into the foreground where the new
    /// attributes want it there, and never out of it. Returns when it is durable. `ItemNotFound`, `Decode`,
    /// `InteractionNotAllowed`, `MissingEntitlement`.
    public func updateInternal(
        _ authorize: @escaping Authorization, _ itemClass: ItemClass, _ reference: Reference,
        _ attributes: AttributeSet, _ secret: SharedSecret? = nil
    ) async throws(Refusal) {
        try await change { (writer, store) throws(Refusal) in
            let grant = try authorize()
            let query = Query(internal: itemClass, reference: reference)
            guard let (row, old) = try self.row(query, store, grant) else { throw .itemNotFound }
            _ = try self.rewrite(
                row, Self.content(old, attributes), secret, hasNewLookup: attributes[.lookup] != nil, writer,
                grant)
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

    private func rewrite(
        _ row: AnyRow, _ content: ItemWriter.Content, _ secret: SharedSecret?, hasNewLookup: Bool,
        _ writer: ItemWriter, _ grant: borrowing Grant
    ) throws(Refusal) -> RowHeader {
        let (header, rules) = (row.header, grant.rules(of: content.group))
        var (content, secret) = (content, secret)
        let wasApart = content.attributes.secretAccessible != nil
        if content.itemClass == .secretServiceItem, secret != nil || hasNewLookup && !wasApart {
            let wanted = grant.secretAccessible(of: content.attributes.lookup, in: content.group)
            if let wanted { try writer.checkReach(of: wanted, content.group, grant) }
            content.attributes.secretAccessible = wanted
        }
        if secret == nil && !wasApart {
            secret = keptSecret(of: row)
            if secret == nil { throw .damagedItem }
        }
        if wasApart && content.attributes.secretAccessible == nil {
            content.protection = .accessible(rules.internalAccessible(isSecretApart: false))
            try writer.removeSecret(of: header)
        }
        return try Self.put(
            content, secret, reference: header.reference, created: header.created, replacing: row, writer,
            rules)
    }

    // A secret that is apart stays as it is where there is no new one.
    private static func put(
        _ content: ItemWriter.Content, _ secret: SharedSecret?, reference: Reference, created: UInt64,
        replacing row: AnyRow?, _ writer: ItemWriter, _ rules: GroupRules
    ) throws(Refusal) -> RowHeader {
        let nothing = SharedSecret(Secret(count: 0) { _ in })
        guard let accessibility = content.attributes.secretAccessible else {
            return try writer.put(
                content, secret ?? nothing, reference: reference, created: created, replacing: row,
                rules: rules)
        }
        let header = try writer.put(
            content, nothing, reference: reference, created: created, replacing: row, rules: rules)
        if let secret { try writer.putSecret(secret, of: header, accessibility, rules) }
        return header
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
            guard let attributes = try attributes(of: row, query), grant.sees(attributes),
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
            if grant.sees(attributes) { found = (row, attributes) }
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

extension Vault {
    /// Whether the grant's groups hold more items of the class than so many, in whatever collections. No row is opened.
    public func holdsMore(
        than countMax: Int, _ itemClass: ItemClass, _ grant: borrowing Grant
    ) throws(Refusal) -> Bool {
        let store = try openStore()
        guard let index = keyring.index else { throw .beforeFirstUnlock }
        var count = 0
        for group in grant.groups {
            let token = index.token(of: itemClass, in: group)
            count += try stored { () throws(SQLiteError) in
                try store.reading.index.count(token, upTo: countMax + 1 - count)
            }
            if count > countMax { return true }
        }
        return false
    }
}
