internal import BrokerModel
internal import SQLite

/// What stays of a deleted synchronizable item: its primary key's token and its reference, no content. No
/// query shows it; an item of the same primary key takes its place.
struct TombstoneTable {
    let database: Database

    func insert(_ header: RowHeader, revision: UInt64, deleted: UInt64) throws(SQLiteError) {
        let insert = try database.statement("INSERT OR REPLACE INTO tombstones VALUES (?1, ?2, ?3, ?4, ?5)")
        insert.bind(header.primaryToken, at: 1)
        insert.bind(header.groupID, at: 2)
        insert.bind(header.reference.bytes, at: 3)
        insert.bind(Int64(revision), at: 4)
        insert.bind(Int64(deleted), at: 5)
        try insert.run()
    }

    func delete(_ primaryToken: [UInt8]) throws(SQLiteError) {
        let delete = try database.statement("DELETE FROM tombstones WHERE token = ?1")
        delete.bind(primaryToken, at: 1)
        try delete.run()
    }
}
