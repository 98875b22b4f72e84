internal import BrokerModel
internal import SQLite
internal import Sodium

extension Vault {
    /// Keeps a completion for the moment that its class key is in memory; returns the revision that the item will have.
    func keep(
        _ changes: Changes, _ secret: SharedSecret, for row: AnyRow, _ store: Store
    ) throws(Refusal) -> UInt64 {
        let header = row.header
        let key = try stored { () throws(SQLiteError) in
            try store.writing.keybag.publicKey(of: header.classKeyID)
        }
        let revision = try stored { () throws(SQLiteError) in
            try store.writing.groups.nextRevision(header.groupID)
        }
        let completion = SealedCompletion(changes, secret)
        guard let key, let sealed = completion.sealed(for: header, revision: revision, to: key) else {
            throw .damagedItem
        }
        try stored { () throws(SQLiteError) in
            try CompletionTable(database: store.writing.database).put(
                CompletionTable.Row(
                    reference: header.reference, base: header.revision, revision: revision,
                    classKeyID: header.classKeyID, sealed: sealed))
        }
        // Before it is durable: an unlock that comes meanwhile must wait for it.
        keepsCompletions = true
        return revision
    }

    /// Applies what was kept, as a part of the change that opens the class keys. What does not fit any more is dropped: a
    /// sign-in or a logout came after it.
    func applyCompletions(_ store: Store, _ opened: OpenedKeybag) throws(Refusal) -> [Notice] {
        let table = CompletionTable(database: store.writing.database)
        let isEmpty = try stored { () throws(SQLiteError) in try table.isEmpty }
        if isEmpty { return [] }
        let rows = try stored { () throws(SQLiteError) in try table.all() }
        let keys = Keyring()
        keys.unlock(with: opened)
        var notices: [Notice] = []
        for row in rows {
            if let notice = try apply(row, keys, opened, store) { notices.append(notice) }
        }
        try stored { () throws(SQLiteError) in try table.removeAll() }
        return notices
    }

    private func apply(
        _ kept: CompletionTable.Row, _ keys: Keyring, _ opened: OpenedKeybag, _ store: Store
    ) throws(Refusal) -> Notice? {
        guard let completion = try completion(kept, opened, store), let index = keys.index else { return nil }
        let row = try stored { () throws(SQLiteError) in
            try store.writing.row(of: kept.reference, withSecret: false)
        }
        guard let row, row.header.revision == kept.base, !row.header.hasExpired(at: now),
            case .item(let item) = keys.open(row)
        else { return nil }
        var content = ItemWriter.Content(
            itemClass: item.itemClass, group: item.accessGroup, protection: item.protection,
            fingers: item.fingers, synchronizable: item.synchronizable, attributes: item.attributes,
            expires: completion.expires ?? item.expires,
            freshUntil: completion.freshUntil ?? item.freshUntil)
        for pair in completion.attributes.pairs { content.attributes[pair.key] = pair.value }
        // The item was let into its group before; what a token server sends is not held up by a quota then.
        var rules = GroupRules()
        (rules.maxItems, rules.maxBytes) = (.max, .max)
        let writer = ItemWriter(
            tables: store.writing, tombstones: store.tombstones, keyring: keys, index: index,
            isPasscodeSet: store.isPasscodeSet, now: now, seenExpired: seenExpired, renewals: store.renewals)
        let header = try writer.put(
            content, completion.secret, reference: item.reference, created: item.created, replacing: row,
            rules: rules, promised: kept.revision)
        return .changed(header, .updated, side: row.side)
    }

    private func completion(
        _ kept: CompletionTable.Row, _ opened: OpenedKeybag, _ store: Store
    ) throws(Refusal) -> SealedCompletion? {
        guard let entry = opened.classKeys.first(where: { $0.id == kept.classKeyID }) else { return nil }
        do throws(SQLiteError) {
            guard let pair = try store.writing.keybag.pair(of: entry) else { return nil }
            return SealedCompletion(kept, with: pair)
        } catch {
            throw Refusal(error)
        }
    }
}
