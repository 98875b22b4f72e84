internal import BrokerGate
internal import BrokerModel
internal import SQLite
internal import Sodium

/// The steps that every change of items is made of, inside one transaction.
struct ItemWriter {
    let tables: Tables
    let tombstones: TombstoneTable
    let keyring: Keyring
    let index: IndexKey
    let isPasscodeSet: Bool
    let now: UInt64
    let seenExpired: Set<Int64>
    let renewals: Renewals

    /// An item's content on its way into a row.
    struct Content {
        var itemClass: ItemClass
        var group: AccessGroup
        var protection: Protection
        var fingers: FingerSet?
        var synchronizable: Bool
        var attributes: AttributeSet
        var expires: UInt64?
        var freshUntil: UInt64?
    }

    /// `Param` for a class that the group does not take, `MissingEntitlement` for a foreground item of a
    /// background caller, `NotAvailable` for the passcode-set class without a passcode (K4), and
    /// `InteractionNotAllowed` where the class key is not in memory.
    func checkProtection(_ protection: Protection, _ group: AccessGroup, _ grant: borrowing Grant)
        throws(Refusal)
    {
        let accessibility = protection.accessibility
        guard grant.rules(of: group).allows(accessibility) else {
            throw .param("The policy does not let items of this class into the group.")
        }
        try checkReach(of: accessibility, group, grant)
    }

    /// The same for a class that the policy itself has chosen.
    func checkReach(
        of accessibility: Accessibility, _ group: AccessGroup, _ grant: borrowing Grant
    ) throws(Refusal) {
        try grant.checkStoring(accessibility.side, in: group)
        if accessibility == .whenPasscodeSetThisDeviceOnly && !isPasscodeSet {
            throw Refusal(
                .notAvailable, "This class needs a passcode, and none is set; 'chatelaine passcode set'.")
        }
        if accessibility.side == .foreground && keyring.foreground == nil { throw .locked }
    }

    /// What stands in the way of a primary key.
    enum Holder {
        case free
        /// Damaged or expired: whoever adds takes its place.
        case consumed(AnyRow)
        case live(AnyRow, ItemAttributes)
        case locked(AnyRow)
    }

    func holder(of primaryToken: [UInt8]) throws(Refusal) -> Holder {
        try stored { () throws(SQLiteError) in
            guard let (id, side) = try tables.index.holder(of: primaryToken),
                let row = try tables.row(id, side, withSecret: true)
            else { return .free }
            if row.header.hasExpired(at: now) || seenExpired.contains(id) { return .consumed(row) }
            switch keyring.open(row) {
            case .locked: return .locked(row)
            case .damaged: return .consumed(row)
            case .item(let attributes):
                return keyring.secret(of: row) == nil ? .consumed(row) : .live(row, attributes)
            }
        }
    }

    /// The reference counts where there is no other primary key.
    func primaryToken(of content: Content, _ reference: Reference) -> [UInt8] {
        content.itemClass.isInternal
            ? index.primaryToken(reference, itemClass: content.itemClass) : primaryToken(of: content)
    }

    /// The token of a primary key that is made of attributes.
    func primaryToken(of content: Content) -> [UInt8] {
        index.primaryToken(
            content.attributes, itemClass: content.itemClass, group: content.group,
            synchronizable: content.synchronizable)
    }

    /// Seals the content and puts it in the place of `old`, or adds it. Reference and creation are the
    /// caller's choice; the revision is the group's next, unless one was promised.
    func put(
        _ content: Content, _ secret: SharedSecret, reference: Reference, created: UInt64,
        replacing old: AnyRow?, rules: GroupRules, promised: UInt64? = nil
    ) throws(Refusal) -> RowHeader {
        let groupID = try stored { () throws(SQLiteError) in try tables.groups.makeID(of: content.group) }
        let size = secret.secret.count + content.attributes.byteCount
        try checkQuota(groupID, size: size, replacing: old, rules)
        let tokens = index.tokens(content.attributes, itemClass: content.itemClass, group: content.group)
        let revision =
            if let promised { promised } else {
                try stored { () throws(SQLiteError) in try tables.groups.nextRevision(groupID) }
            }
        let header = RowHeader(
            id: try id(for: old),
            groupID: groupID, group: content.group, itemClass: content.itemClass, classKeyID: 0,
            reference: reference,
            revision: revision,
            created: created, modified: max(now, (old?.header.modified ?? 0) + 1),
            expires: content.expires, freshUntil: content.freshUntil,
            synchronizable: content.synchronizable, isGated: content.protection.isGated,
            primaryToken: primaryToken(of: content, reference), tokens: tokens, size: size)
        let sealed = keyring.seal(
            header, content.attributes, content.protection, content.fingers, secret)
        guard let row = sealed else { throw .locked }
        try stored { () throws(SQLiteError) in
            if content.synchronizable { try tombstones.delete(header.primaryToken) }
            if content.itemClass.isInternal { try Schema.admitInternalItems(in: tables.database) }
            if content.fingers != nil { try Schema.admitBoundFingers(in: tables.database) }
            try tables.put(row, replacing: old)
        }
        renewals.wrote(row.header, row.side)
        return row.header
    }

    /// Deletes a row, with its secret where that is apart; a synchronizable one leaves its tombstone, locked or not (K6).
    func remove(_ row: AnyRow) throws(SQLiteError) {
        let header = row.header
        // It may have gone with its item.
        if header.itemClass == .secretServiceSecret, try !tables.holds(header.id, row.side) { return }
        try tables.remove(row)
        if header.itemClass == .secretServiceItem,
            let secret = try tables.secretRow(of: header.reference, withSecret: false)
        {
            try tables.remove(.foreground(secret))
        }
        guard row.header.synchronizable else { return }
        let revision = try tables.groups.nextRevision(row.header.groupID)
        try tombstones.insert(row.header, revision: revision, deleted: now)
    }

    private func id(for old: AnyRow?) throws(Refusal) -> Int64 {
        if let old { return old.header.id }
        return try stored { () throws(SQLiteError) in
            try Numbers(database: tables.database).take(.nextItem)
        }
    }

    private func checkQuota(
        _ groupID: Int64, size: Int, replacing old: AnyRow?, _ rules: GroupRules
    ) throws(Refusal) {
        let usage = try stored { () throws(SQLiteError) in try tables.groups.usage(of: groupID) }
        let isInGroup = old?.header.groupID == groupID
        let items = usage.items + (isInGroup ? 0 : 1)
        let bytes = usage.bytes + size - (isInGroup ? old?.header.size ?? 0 : 0)
        let grows = !isInGroup || size > old?.header.size ?? 0
        guard grows else { return }
        if items > Int(clamping: rules.maxItems) || bytes > Int(clamping: rules.maxBytes) {
            throw Refusal(
                .quotaExceeded, "The access group is full; delete items, or raise its MaxItems or MaxBytes.")
        }
    }

    static func newReference() -> Reference { Reference(bytes: Random.bytes(Reference.byteCount))! }
}
