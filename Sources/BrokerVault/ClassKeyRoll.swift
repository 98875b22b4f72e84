internal import BrokerModel
internal import SQLite

/// Puts every row under new class keys, and deletes the rows of a class that has none any more. Only the
/// per-item keys are wrapped anew; a row that does not open stays as it is, and damaged.
struct ClassKeyRoll {
    private let tables: Tables
    private let old = Keyring()
    private let new = Keyring()

    init(_ tables: Tables, from old: OpenedKeybag, to new: OpenedKeybag) {
        self.tables = tables
        self.old.unlock(with: old)
        self.new.unlock(with: new)
    }

    /// The same with the keys of a keyring besides, each of which may be one of the new ones.
    init(_ tables: Tables, from old: OpenedKeybag, and others: Keyring, to new: OpenedKeybag) {
        self.init(tables, from: old, to: new)
        self.old.borrow(others)
    }

    /// Puts what opens under the new keys, and leaves all other rows as they are.
    func keep() throws(SQLiteError) {
        if let old = old.background, let new = new.background { try keep(tables.background, old, new) }
        if let old = old.foreground, let new = new.foreground { try keep(tables.foreground, old, new) }
    }

    private func keep<Side: VaultSide>(
        _ table: ItemTable<Side>, _ old: ClassKeys<Side>, _ new: ClassKeys<Side>
    ) throws(SQLiteError) {
        for id in try table.ids() {
            guard let row = try table.row(id, withSecret: true), new[id: row.header.classKeyID] == nil,
                let from = old[id: row.header.classKeyID], let to = new[from.accessibility],
                let rolled = row.rewrapped(from: from, to: to)
            else { continue }
            try table.put(rolled)
        }
    }

    /// The notices of the rows that are gone.
    func run() throws(SQLiteError) -> [Notice] {
        if let old = old.background, let new = new.background {
            _ = try roll(tables.background, old, new)
        }
        guard let old = old.foreground, let new = new.foreground else { return [] }
        return try roll(tables.foreground, old, new)
    }

    private func roll<Side: VaultSide>(
        _ table: ItemTable<Side>, _ old: ClassKeys<Side>, _ new: ClassKeys<Side>
    ) throws(SQLiteError) -> [Notice] {
        var notices: [Notice] = []
        for id in try table.ids() {
            guard let row = try table.row(id, withSecret: true), let from = old[id: row.header.classKeyID]
            else { continue }
            if let to = new[from.accessibility] {
                if let rolled = row.rewrapped(from: from, to: to) { try table.put(rolled) }
            } else if let gone = try tables.row(id, Side.side, withSecret: false) {
                try tables.remove(gone)
                try removeItem(of: gone.header)
                if gone.header.itemClass.isInternal { continue }
                notices.append(.changed(gone.header, .removed, side: Side.side))
            }
        }
        return notices
    }

    // An item does not outlive its secret.
    private func removeItem(of secret: RowHeader) throws(SQLiteError) {
        guard secret.itemClass == .secretServiceSecret,
            let item = try tables.row(of: secret.reference, withSecret: false),
            item.header.itemClass == .secretServiceItem
        else { return }
        try tables.remove(item)
    }
}
