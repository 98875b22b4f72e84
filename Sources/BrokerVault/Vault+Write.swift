public import BrokerGate
public import BrokerModel
internal import SQLite

extension Vault {
    /// Asked when a change is about to be made, which may be later than the call came: the gate of that
    /// moment decides.
    public typealias Authorization = () throws(Refusal) -> Grant

    /// Adds an item to the grant's one group. Returns when it is durable. `fingers`: those that are enrolled; without them
    /// an item that is bound to such is refused, which the refusal says, after all else was found in order.
    public func add(
        _ authorize: @escaping Authorization, _ item: NewItem, _ secret: IncomingSecret,
        fingers: FingerSet? = nil
    ) async throws(Refusal) -> StoredItem {
        try await change { (writer, _) throws(Refusal) in
            let grant = try authorize()
            let content = Self.content(of: item, grant)
            try content.protection.check(synchronizable: content.synchronizable)
            try writer.checkProtection(content.protection, content.group, grant)
            let old = try Self.consumable(writer.holder(of: writer.primaryToken(of: content)), grant)
            return try Self.place(content.bound(to: fingers), secret, in: old, writer, grant)
        }
    }

    /// Adds an item, or replaces the one of the same primary key, in one step. Returns when it is durable. `fingers` as
    /// ``add(_:_:_:fingers:)`` has it: what is stored is bound to those that are enrolled then.
    public func storeItem(
        _ authorize: @escaping Authorization, _ item: NewItem, _ secret: IncomingSecret,
        fingers: FingerSet? = nil
    ) async throws(Refusal) -> StoredItem {
        try await change { (writer, _) throws(Refusal) in
            let grant = try authorize()
            var content = Self.content(of: item, grant)
            switch try writer.holder(of: writer.primaryToken(of: content)) {
            case .locked: throw .locked
            case .free, .consumed:
                try Self.checkRevision(item.ifRevision, current: 0)
                try content.protection.check(synchronizable: content.synchronizable)
                try writer.checkProtection(content.protection, content.group, grant)
                let old = try Self.consumable(writer.holder(of: writer.primaryToken(of: content)), grant)
                return try Self.place(content.bound(to: fingers), secret, in: old, writer, grant)
            case .live(let old, let attributes):
                guard grant.sees(old.side) else { throw .duplicateItem }
                try Self.checkRevision(item.ifRevision, current: old.header.revision)
                content.protection = item.protection ?? attributes.protection
                try content.protection.check(synchronizable: content.synchronizable)
                try writer.checkProtection(content.protection, content.group, grant)
                return try Self.replace(
                    old, attributes, content.bound(to: fingers), secret, writer, grant)
            }
        }
    }

    // Another access control is another item to whoever holds the reference (K2).
    private static func replace(
        _ old: AnyRow, _ attributes: ItemAttributes, _ content: ItemWriter.Content, _ secret: IncomingSecret,
        _ writer: ItemWriter, _ grant: borrowing Grant
    ) throws(Refusal) -> (StoredItem, [Notice]) {
        let keepsReference = attributes.protection.hasSameAccessControl(as: content.protection)
        let reference = keepsReference ? old.header.reference : ItemWriter.newReference()
        let header = try writer.put(
            content, secret.chosen(for: content.protection), reference: reference,
            created: old.header.created, replacing: old,
            rules: grant.rules(of: content.group))
        let side = content.protection.accessibility.side
        var notices: [Notice] = []
        if keepsReference {
            notices = [.changed(header, .updated, side: side, was: old.side)]
        } else {
            notices = [
                .changed(old.header, .removed, side: old.side), .changed(header, .added, side: side),
            ]
        }
        return (StoredItem(reference: reference, revision: header.revision, created: false), notices)
    }

    private static func place(
        _ content: ItemWriter.Content, _ secret: IncomingSecret, in old: AnyRow?, _ writer: ItemWriter,
        _ grant: borrowing Grant
    ) throws(Refusal) -> (StoredItem, [Notice]) {
        if let old { try stored { () throws(SQLiteError) in try writer.remove(old) } }
        let header = try writer.put(
            content, secret.chosen(for: content.protection), reference: ItemWriter.newReference(),
            created: writer.now, replacing: nil,
            rules: grant.rules(of: content.group))
        let added = Notice.changed(header, .added, side: content.protection.accessibility.side)
        let removed = old.map { Notice.changed($0.header, .removed, side: $0.side) }
        let stored = StoredItem(reference: header.reference, revision: header.revision, created: true)
        return (stored, [removed, added].compactMap { $0 })
    }

    // What may be replaced by an addition: nothing, or a row that is no item any more.
    private static func consumable(
        _ holder: ItemWriter.Holder, _ grant: borrowing Grant
    ) throws(Refusal) -> AnyRow? {
        switch holder {
        case .free: return nil
        case .consumed(let row): return row
        case .live: throw .duplicateItem
        case .locked: throw grant.role == .background ? .duplicateItem : .locked
        }
    }

    private static func content(
        of item: NewItem, _ grant: borrowing Grant
    ) -> ItemWriter.Content {
        let group = grant.groups[0]
        return ItemWriter.Content(
            itemClass: item.itemClass, group: group,
            protection: item.protection ?? .accessible(grant.rules(of: group).defaultAccessible),
            synchronizable: item.synchronizable, attributes: item.attributes, expires: item.expires,
            freshUntil: item.freshUntil)
    }

    private static func checkRevision(_ wanted: UInt64?, current: UInt64) throws(Refusal) {
        if let wanted, wanted != current { throw .revisionMismatch(current: current) }
    }

    /// Runs a change of items in a transaction of the writer, on the keys and the clock of the moment that
    /// it runs.
    func change<Result>(
        _ body: @escaping (ItemWriter, Store) throws(Refusal) -> (Result, [Notice])
    ) async throws(Refusal) -> Result {
        _ = try openStore()
        guard keyring.index != nil else { throw .beforeFirstUnlock }
        return try await write { (store) throws(Refusal) in
            guard let index = self.keyring.index else { throw .beforeFirstUnlock }
            return try body(self.itemWriter(store, index), store)
        }
    }

    /// Runs a change in a transaction of the writer; `adopt` as ``Writer/write(adopt:_:)`` has it.
    func write<Result>(
        adopt: (() -> Void)? = nil, _ body: @escaping (Store) throws(Refusal) -> (Result, [Notice])
    ) async throws(Refusal) -> Result {
        let store = try openStore()
        do throws(Refusal) {
            return try await store.writer.write(adopt: adopt) { () throws(Refusal) in try body(store) }
        } catch {
            return try check { () throws(Refusal) in throw error }
        }
    }
}

extension Vault {
    func itemWriter(_ store: Store, _ index: IndexKey) -> ItemWriter {
        ItemWriter(
            tables: store.writing, tombstones: store.tombstones, keyring: keyring, index: index,
            isPasscodeSet: store.isPasscodeSet, now: now, seenExpired: seenExpired, renewals: store.renewals)
    }
}

extension ItemWriter.Content {
    /// Bound to these fingers, where its access control is about such.
    fileprivate func bound(to fingers: FingerSet?) throws(Refusal) -> ItemWriter.Content {
        guard protection.bindsFingers else { return self }
        guard let fingers else { throw .fingersUnknown }
        var content = self
        content.fingers = fingers
        return content
    }
}

extension Protection {
    func hasSameAccessControl(as other: Protection) -> Bool {
        switch (self, other) {
        case (.accessible, .accessible): true
        case (.accessControl(let left), .accessControl(let right)): left == right
        default: false
        }
    }
}

extension Notice {
    static func changed(
        _ header: RowHeader, _ change: Change, side: Accessibility.Side, was: Accessibility.Side? = nil
    ) -> Notice {
        .itemChanged(
            group: header.group, reference: header.reference, change: change, revision: header.revision,
            side: side, previousSide: was ?? side)
    }
}
