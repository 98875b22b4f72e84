internal import BrokerModel
internal import SQLite

/// All tables as one connection sees them.
struct Tables {
    let database: Database
    let groups: GroupTable
    let background: ItemTable<Background>
    let foreground: ItemTable<Foreground>
    let index: IndexTable
    let keybag: KeybagTable

    init(_ database: Database, isReader: Bool) {
        self.database = database
        groups = GroupTable(database: database, isReader: isReader)
        background = ItemTable(database: database, groups: groups)
        foreground = ItemTable(database: database, groups: groups)
        index = IndexTable(database: database)
        keybag = KeybagTable(database: database)
    }

    func row(_ id: Int64, _ side: Accessibility.Side, withSecret: Bool) throws(SQLiteError) -> AnyRow? {
        switch side {
        case .background:
            guard let row = try background.row(id, withSecret: withSecret) else { return nil }
            return .background(row)
        case .foreground:
            guard let row = try foreground.row(id, withSecret: withSecret) else { return nil }
            return .foreground(row)
        }
    }

    /// The row with a persistent reference.
    func row(of reference: Reference, withSecret: Bool) throws(SQLiteError) -> AnyRow? {
        if let id = try background.id(of: reference) {
            return try row(id, .background, withSecret: withSecret)
        }
        guard let id = try foreground.id(of: reference) else { return nil }
        return try row(id, .foreground, withSecret: withSecret)
    }

    /// The row that has an internal item's secret, where it is apart from the item.
    func secretRow(of item: Reference, withSecret: Bool) throws(SQLiteError) -> Row<Foreground>? {
        guard let id = try foreground.id(of: item), let row = try foreground.row(id, withSecret: withSecret),
            row.header.itemClass == .secretServiceSecret
        else { return nil }
        return row
    }

    /// Whether there is such a row, readable or not.
    func holds(_ id: Int64, _ side: Accessibility.Side) throws(SQLiteError) -> Bool {
        side == .background ? try background.holds(id) : try foreground.holds(id)
    }

    /// Puts a row in the place of `old`, which may be nil or of the other side, with its index entries and
    /// its group's counts.
    func put(_ row: AnyRow, replacing old: AnyRow?) throws(SQLiteError) {
        if let old, old.side != row.side { try deleteRow(old) }
        switch row {
        case .background(let row): try background.put(row)
        case .foreground(let row): try foreground.put(row)
        }
        try index.change(from: old?.entry, to: row.entry)
        if let old { try count(old, sign: -1) }
        try count(row, sign: 1)
    }

    /// Takes a row away with its index entries and its group's counts.
    func remove(_ row: AnyRow) throws(SQLiteError) {
        try deleteRow(row)
        try index.change(from: row.entry, to: nil)
        try count(row, sign: -1)
    }

    private func deleteRow(_ row: AnyRow) throws(SQLiteError) {
        switch row {
        case .background(let row): try background.delete(row.header.id)
        case .foreground(let row): try foreground.delete(row.header.id)
        }
    }

    private func count(_ row: AnyRow, sign: Int) throws(SQLiteError) {
        try groups.count(
            row.header.groupID, items: Int64(sign), bytes: sign * row.header.size, side: row.side)
    }
}
