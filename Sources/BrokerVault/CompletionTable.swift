internal import BrokerModel
internal import SQLite

/// Completions of refreshes that came while the class key was not in memory, one for an item at most.
struct CompletionTable {
    let database: Database

    /// One completion.
    struct Row {
        let reference: Reference
        /// The item's revision that it was made for.
        let base: UInt64
        /// The revision that was promised for it.
        let revision: UInt64
        /// Whose pair it is sealed to.
        let classKeyID: UInt32
        let sealed: [UInt8]
    }

    func put(_ row: Row) throws(SQLiteError) {
        let insert = try database.statement(
            "INSERT OR REPLACE INTO refresh_completions VALUES (?1, ?2, ?3, ?4, ?5)")
        insert.bind(row.reference.bytes, at: 1)
        insert.bind(Int64(row.base), at: 2)
        insert.bind(Int64(row.revision), at: 3)
        insert.bind(Int64(row.classKeyID), at: 4)
        insert.bind(row.sealed, at: 5)
        try insert.run()
    }

    var isEmpty: Bool {
        get throws(SQLiteError) { try database.number("SELECT count(*) FROM refresh_completions") == 0 }
    }

    /// All, in the order in which they came.
    func all() throws(SQLiteError) -> [Row] {
        let query = try database.statement(
            "SELECT reference, base, revision, class_key, sealed FROM refresh_completions ORDER BY rowid")
        defer { query.reset() }
        var found: [Row] = []
        while try query.step() {
            guard let reference = Reference(bytes: query.bytes(0)), let id = UInt32(exactly: query.number(3))
            else { continue }
            found.append(
                Row(
                    reference: reference, base: query.unsigned(1), revision: query.unsigned(2),
                    classKeyID: id, sealed: query.bytes(4)))
        }
        return found
    }

    func removeAll() throws(SQLiteError) { try database.execute("DELETE FROM refresh_completions") }
}
