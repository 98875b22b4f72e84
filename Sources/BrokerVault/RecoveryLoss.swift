internal import BrokerModel
internal import SQLite

/// The items that a recovery cannot keep: those of class keys that nothing opens any more.
///
/// An item of `org.freedesktop.secrets` and its secret apart are one item; if either goes, both go. A logout that came
/// before the first unlock and whose service only the lost device key would tell takes its group whole: nobody's
/// logged-out items come back.
struct RecoveryLoss {
    /// The numbers of the class keys.
    let classKeys: [UInt32]
    /// Whether the store's own device key is lost.
    let isForeign: Bool

    private static let apart = ItemClass.secretServiceSecret.rawValue
    private static let collection = ItemClass.secretServiceCollection.rawValue

    /// How many items stay, and how many go.
    func count(_ tables: Tables) throws(SQLiteError) -> RecoveryCount {
        func number(_ condition: String) throws(SQLiteError) -> UInt32 {
            var sum: Int64 = 0
            for table in [Background.table, Foreground.table] {
                sum +=
                    try tables.database.number(
                        """
                        SELECT count(*) FROM \(table) WHERE item_class NOT IN (\(Self.apart), \(Self.collection))
                            AND (\(condition))
                        """) ?? 0
            }
            return UInt32(clamping: sum)
        }
        let lost = try number(condition)
        return RecoveryCount(kept: try number("1") - lost, lost: lost)
    }

    // Numbers alone, all of them ours.
    private var condition: String {
        let keys = classKeys.map(String.init).joined(separator: ",")
        let logouts = isForeign ? "SELECT group_id FROM pending_logouts" : "NULL"
        return """
            class_key IN (\(keys)) OR group_id IN (\(logouts)) OR reference IN (
                SELECT reference FROM \(Foreground.table)
                WHERE item_class = \(Self.apart) AND class_key IN (\(keys)))
            """
    }

    /// Deletes them, and tells of it.
    func carryOut(_ tables: Tables) throws(SQLiteError) -> [Notice] {
        var notices: [Notice] = []
        for side in Accessibility.Side.allCases {
            for id in try ids(side, tables) {
                guard let row = try tables.row(id, side, withSecret: false) else { continue }
                try tables.remove(row)
                if let secret = try tables.secretRow(of: row.header.reference, withSecret: false) {
                    try tables.remove(.foreground(secret))
                }
                if row.header.itemClass.isInternal { continue }
                notices.append(.changed(row.header, .removed, side: side))
            }
        }
        if isForeign { try tables.database.execute("DELETE FROM pending_logouts") }
        return notices
    }

    private func ids(_ side: Accessibility.Side, _ tables: Tables) throws(SQLiteError) -> [Int64] {
        let table = side == .background ? Background.table : Foreground.table
        let query = try tables.database.statement("SELECT id FROM \(table) WHERE \(condition)")
        defer { query.reset() }
        var found: [Int64] = []
        while try query.step() { found.append(query.number(0)) }
        return found
    }
}
