internal import BrokerModel
internal import SQLite

/// A row of one side as it is stored; its parts are sealed.
struct Row<Side: VaultSide> {
    private(set) var header: RowHeader
    private(set) var attributes: [UInt8]
    private(set) var secret: [UInt8]
    /// What both parts are bound to.
    let binding: RowHeader.Binding

    init(header: RowHeader, attributes: [UInt8], secret: [UInt8]) {
        self.init(header, header.binding(side: Side.side), attributes, secret)
    }

    private init(
        _ header: RowHeader, _ binding: RowHeader.Binding, _ attributes: [UInt8], _ secret: [UInt8]
    ) {
        self.header = header
        self.binding = binding
        self.attributes = attributes
        self.secret = secret
    }

    /// The same row with its parts under another class key, which is no part of what they are bound to.
    func changed(classKeyID: UInt32, attributes: [UInt8], secret: [UInt8]) -> Row {
        var header = header
        header.classKeyID = classKeyID
        return Row(header, binding, attributes, secret)
    }
}

/// The items of one side.
struct ItemTable<Side: VaultSide> {
    let database: Database
    let groups: GroupTable

    private static var sizeMax: UInt64 {
        UInt64(Limits.secretBytesMax + Limits.itemAttributesBytesMax)
    }

    /// Nil where there is no such row, or one that no version of ours wrote. The secret's bytes are left out
    /// unless they are wanted, and then SQLite does not read them.
    func row(_ id: Int64, withSecret: Bool) throws(SQLiteError) -> Row<Side>? {
        let query = try database.statement(Side.statements.select)
        query.bind(id, at: 1)
        defer { query.reset() }
        return try row(in: query, withSecret: withSecret)
    }

    /// Lends the row with a persistent reference. Until the closure returns, what is read is of the state of the store that
    /// the row is of, if there is one.
    func withRow(
        of reference: Reference, withSecret: Bool, _ body: (Row<Side>?) throws(Refusal) -> Void
    ) throws(Refusal) {
        let query = try stored { () throws(SQLiteError) in
            try database.statement(Side.statements.selectByReference)
        }
        query.bind(reference.bytes, at: 1)
        defer { query.reset() }
        try body(stored { () throws(SQLiteError) in try row(in: query, withSecret: withSecret) })
    }

    private func row(in query: Statement, withSecret: Bool) throws(SQLiteError) -> Row<Side>? {
        guard try query.step(), let header = try header(of: query) else { return nil }
        return Row(
            header: header, attributes: query.bytes(15), secret: withSecret ? query.bytes(16) : [])
    }

    /// Whether there is such a row, readable or not.
    func holds(_ id: Int64) throws(SQLiteError) -> Bool {
        let query = try database.statement("SELECT 1 FROM \(Side.table) WHERE id = ?1")
        query.bind(id, at: 1)
        defer { query.reset() }
        return try query.step()
    }

    /// The row with a persistent reference.
    func id(of reference: Reference) throws(SQLiteError) -> Int64? {
        let query = try database.statement(Side.statements.idOfReference)
        query.bind(reference.bytes, at: 1)
        defer { query.reset() }
        return try query.step() ? query.number(0) : nil
    }

    /// Every row's number, for checks and for rolling class keys.
    func ids() throws(SQLiteError) -> [Int64] {
        let query = try database.statement("SELECT id FROM \(Side.table) ORDER BY id")
        defer { query.reset() }
        var found: [Int64] = []
        while try query.step() { found.append(query.number(0)) }
        return found
    }

    /// The rows that have ceased to exist.
    func expired(at now: UInt64) throws(SQLiteError) -> [Int64] {
        let query = try database.statement(
            "SELECT id FROM \(Side.table) WHERE expires BETWEEN 0 AND ?1")
        query.bind(Int64(now), at: 1)
        defer { query.reset() }
        var found: [Int64] = []
        while try query.step() { found.append(query.number(0)) }
        return found
    }

    /// When the next row ceases to exist.
    func nextExpiry(after now: UInt64) throws(SQLiteError) -> UInt64? {
        let query = try database.statement("SELECT min(expires) FROM \(Side.table) WHERE expires > ?1")
        query.bind(Int64(now), at: 1)
        defer { query.reset() }
        guard try query.step(), !query.isNull(0) else { return nil }
        return query.unsigned(0)
    }

    /// Adds a row, or puts it in the place of the one of the same number.
    func put(_ row: Row<Side>) throws(SQLiteError) {
        let header = row.header
        let insert = try database.statement(Side.statements.put)
        insert.bind(header.id, at: 1)
        insert.bind(header.groupID, at: 2)
        insert.bind(Int64(header.itemClass.rawValue), at: 3)
        insert.bind(Int64(header.classKeyID), at: 4)
        insert.bind(header.reference.bytes, at: 5)
        insert.bind(Int64(header.revision), at: 6)
        insert.bind(Int64(header.created), at: 7)
        insert.bind(Int64(header.modified), at: 8)
        insert.bind(header.expires.map { Int64($0) }, at: 9)
        insert.bind(header.freshUntil.map { Int64($0) }, at: 10)
        insert.bind(header.synchronizable ? 1 : 0, at: 11)
        insert.bind(header.isGated ? 1 : 0, at: 12)
        insert.bind(header.primaryToken, at: 13)
        insert.bind(header.tokens, at: 14)
        insert.bind(Int64(header.size), at: 15)
        insert.bind(row.attributes, at: 16)
        insert.bind(row.secret, at: 17)
        try insert.run()
    }

    func delete(_ id: Int64) throws(SQLiteError) {
        let delete = try database.statement("DELETE FROM \(Side.table) WHERE id = ?1")
        delete.bind(id, at: 1)
        try delete.run()
    }

    // A column that no version of ours wrote makes the whole row unreadable, as if it were not there.
    private func header(of query: Statement) throws(SQLiteError) -> RowHeader? {
        guard let group = try groups.name(of: query.number(1)),
            let itemClass = UInt8(exactly: query.number(2)).flatMap(ItemClass.init(rawValue:)),
            let classKeyID = UInt32(exactly: query.number(3)),
            let reference = Reference(bytes: query.bytes(4)),
            let revision = UInt64(exactly: query.number(5)), let created = UInt64(exactly: query.number(6)),
            let modified = UInt64(exactly: query.number(7))
        else { return nil }
        return RowHeader(
            id: query.number(0), groupID: query.number(1), group: group, itemClass: itemClass,
            classKeyID: classKeyID, reference: reference, revision: revision, created: created,
            modified: modified, expires: query.isNull(8) ? nil : UInt64(exactly: query.number(8)),
            freshUntil: query.isNull(9) ? nil : UInt64(exactly: query.number(9)),
            synchronizable: query.number(10) != 0, isGated: query.number(11) != 0,
            primaryToken: query.bytes(12), tokens: query.bytes(13),
            size: Int(min(query.unsigned(14), Self.sizeMax)))
    }
}
