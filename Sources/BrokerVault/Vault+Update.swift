internal import BrokerGate
public import BrokerModel
internal import SQLite
internal import Sodium

extension Vault {
    /// Changes every match, all or nothing; damaged matches are passed over (K17). Returns how many, when
    /// that is durable. A nil secret leaves the secrets as they are. `verified`: the revisions of the items
    /// whose application password the caller has shown to know. What they demand of a person the proofs must meet.
    public func update(
        _ authorize: @escaping Authorization, _ query: Query, _ changes: Changes, _ secret: IncomingSecret?,
        verified: [Reference: UInt64] = [:], proofs: Proofs = .none
    ) async throws(Refusal) -> UInt32 {
        try await change { (writer, store) throws(Refusal) in
            let grant = try authorize()
            let matches = try self.matches(query, changes.ifRevision, secret, proofs, store, grant)
            var notices: [Notice] = []
            for (row, attributes, secret) in matches {
                if attributes.protection.hasApplicationPassword {
                    let revision = verified[attributes.reference]
                    guard revision == attributes.revision else { throw .applicationPasswordMissing }
                }
                notices += try self.apply(changes, secret, to: row, attributes, writer, grant)
            }
            return (UInt32(matches.count), notices)
        }
    }

    // Each match with the secret that it shall have.
    private func matches(
        _ query: Query, _ ifRevision: UInt64?, _ newSecret: IncomingSecret?, _ proofs: Proofs,
        _ store: Store, _ grant: borrowing Grant
    ) throws(Refusal) -> [(AnyRow, ItemAttributes, SharedSecret)] {
        var found: [(AnyRow, ItemAttributes, SharedSecret)] = []
        var sawDamaged = false
        var demands: [Demand] = []
        try selection(store.writing, store).rows(
            query, grant, withSecret: true, seenExpired: &seenExpired
        ) { (row) throws(Refusal) in
            guard let attributes = try attributes(of: row, query) else {
                sawDamaged = true
                return .next
            }
            if let demand = Demand(attributes, withSecret: true), !proofs.meet(demand) {
                demands.append(demand)
                return .next
            }
            if let ifRevision, ifRevision != row.header.revision {
                throw .revisionMismatch(current: row.header.revision)
            }
            let secret = try newSecret?.chosen(for: attributes.protection) ?? keptSecret(of: row)
            guard let secret else {
                sawDamaged = true
                return .next
            }
            found.append((row, attributes, secret))
            return .next
        }
        if !demands.isEmpty { throw .gated(demands) }
        if found.isEmpty { throw sawDamaged ? .damagedItem : .itemNotFound }
        return found
    }

    func keptSecret(of row: AnyRow) -> SharedSecret? {
        guard let secret = keyring.secret(of: row) else { return nil }
        return SharedSecret(secret)
    }

    func apply(
        _ changes: Changes, _ secret: SharedSecret, to row: AnyRow, _ attributes: ItemAttributes,
        _ writer: ItemWriter, _ grant: borrowing Grant
    ) throws(Refusal) -> [Notice] {
        let content = try Self.content(attributes, changes)
        try content.protection.check(synchronizable: content.synchronizable)
        if content.group != attributes.accessGroup { try grant.checkMove(to: content.group) }
        // A collection has no secret.
        if content.itemClass != .secretServiceCollection {
            let secretAccessible = content.attributes.secretAccessible
            let protection = secretAccessible.map { .accessible($0) } ?? content.protection
            try writer.checkProtection(protection, content.group, grant)
        }
        let consumed = try clearWay(for: content, of: row, writer, grant)
        let header = try writer.put(
            content, secret, reference: row.header.reference, created: row.header.created, replacing: row,
            rules: grant.rules(of: content.group))
        // Nobody is told of items that no call of the contract knows.
        if content.itemClass.isInternal { return consumed }
        return consumed + Self.notices(from: row, to: header, side: content.protection.accessibility.side)
    }

    // A changed primary key must be free, or held by a row that is no item any more (U7, U8).
    private func clearWay(
        for content: ItemWriter.Content, of row: AnyRow, _ writer: ItemWriter, _ grant: borrowing Grant
    ) throws(Refusal) -> [Notice] {
        let token = writer.primaryToken(of: content, row.header.reference)
        guard token != row.header.primaryToken else { return [] }
        if row.header.synchronizable { try leaveTombstone(of: row, writer) }
        switch try writer.holder(of: token) {
        case .free: return []
        case .live: throw .duplicateItem
        case .locked: throw grant.role == .background ? .duplicateItem : .locked
        case .consumed(let other):
            try stored { () throws(SQLiteError) in try writer.remove(other) }
            return [.changed(other.header, .removed, side: other.side)]
        }
    }

    private func leaveTombstone(of row: AnyRow, _ writer: ItemWriter) throws(Refusal) {
        try stored { () throws(SQLiteError) in
            let revision = try writer.tables.groups.nextRevision(row.header.groupID)
            try writer.tombstones.insert(row.header, revision: revision, deleted: writer.now)
        }
    }

    static func content(
        _ attributes: ItemAttributes, _ changes: Changes
    ) throws(Refusal) -> ItemWriter.Content {
        var content = ItemWriter.Content(
            itemClass: attributes.itemClass, group: changes.accessGroup ?? attributes.accessGroup,
            protection: attributes.protection, fingers: attributes.fingers,
            synchronizable: changes.synchronizable ?? attributes.synchronizable,
            attributes: attributes.attributes, expires: changes.expires ?? attributes.expires,
            freshUntil: changes.freshUntil ?? attributes.freshUntil)
        for pair in changes.attributes.pairs {
            guard pair.key.belongs(to: attributes.itemClass) else { throw .foreignAttribute }
            content.attributes[pair.key] = pair.value
        }
        try content.attributes.checkSize()
        if let accessible = changes.accessible {
            guard case .accessible = attributes.protection else {
                throw .param("An item with an access control changes its class by Store, not by Update.")
            }
            content.protection = .accessible(accessible)
        }
        return content
    }

    // A move is the end of an item to the one group and its beginning to the other.
    private static func notices(
        from old: AnyRow, to new: RowHeader, side: Accessibility.Side
    ) -> [Notice] {
        guard old.header.group != new.group else {
            return [.changed(new, .updated, side: side, was: old.side)]
        }
        return [.changed(old.header, .removed, side: old.side), .changed(new, .added, side: side)]
    }
}
