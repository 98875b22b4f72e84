internal import BrokerModel
internal import SQLite

/// Who was let refresh what. A row outlives the broker, so that a restart neither starts a second refresh nor loses the
/// first.
struct RefreshGrantTable {
    let database: Database

    /// Completed grants that are remembered, so that a completion whose answer was lost can be repeated.
    private static let rememberedMax: Int64 = 4096

    /// One grant.
    struct Row {
        let fence: UInt64
        let reference: Reference
        /// The item's revision when it was granted; with another one the grant is worth nothing.
        let revision: UInt64
        let application: String
        /// The boot that the deadline belongs to.
        let boot: [UInt8]
        /// Microseconds of CLOCK_MONOTONIC.
        let deadline: UInt64
        /// The item's revision after the completion; nil where there was none yet.
        var completed: UInt64?
    }

    func grant(_ fence: UInt64) throws(SQLiteError) -> Row? {
        guard let number = Int64(exactly: fence) else { return nil }
        return try row("WHERE fence = ?1") { $0.bind(number, at: 1) }
    }

    /// The grant of the item that is not completed.
    func open(of reference: Reference) throws(SQLiteError) -> Row? {
        try row("WHERE reference = ?1 AND completed IS NULL ORDER BY fence DESC LIMIT 1") {
            $0.bind(reference.bytes, at: 1)
        }
    }

    /// Adds a grant; whatever was open of the same item is passed on with it. Those of long ago that nobody can use any
    /// more are forgotten.
    func add(_ row: Row, now: UInt64) throws(SQLiteError) {
        try delete("reference = ?1 AND completed IS NULL") { $0.bind(row.reference.bytes, at: 1) }
        let oldest = Int64(row.fence) - Self.rememberedMax
        try delete("fence < ?1 AND (completed IS NOT NULL OR boot != ?2 OR deadline < ?3)") {
            $0.bind(oldest, at: 1)
            $0.bind(row.boot, at: 2)
            $0.bind(Int64(now), at: 3)
        }
        let insert = try database.statement(
            "INSERT INTO refresh_grants VALUES (?1, ?2, ?3, ?4, ?5, ?6, NULL)")
        insert.bind(Int64(row.fence), at: 1)
        insert.bind(row.reference.bytes, at: 2)
        insert.bind(Int64(row.revision), at: 3)
        insert.bind(row.application, at: 4)
        insert.bind(row.boot, at: 5)
        insert.bind(Int64(row.deadline), at: 6)
        try insert.run()
    }

    func complete(_ fence: UInt64, revision: UInt64) throws(SQLiteError) {
        let update = try database.statement("UPDATE refresh_grants SET completed = ?2 WHERE fence = ?1")
        update.bind(Int64(fence), at: 1)
        update.bind(Int64(revision), at: 2)
        try update.run()
    }

    /// Takes an open grant back.
    func revoke(_ fence: UInt64) throws(SQLiteError) {
        guard let number = Int64(exactly: fence) else { return }
        try delete("fence = ?1 AND completed IS NULL") { $0.bind(number, at: 1) }
    }

    private func delete(_ which: String, _ bind: (Statement) -> Void) throws(SQLiteError) {
        let delete = try database.statement("DELETE FROM refresh_grants WHERE \(which)")
        bind(delete)
        try delete.run()
    }

    private func row(_ which: String, _ bind: (Statement) -> Void) throws(SQLiteError) -> Row? {
        let columns = "fence, reference, revision, application, boot, deadline, completed"
        let query = try database.statement("SELECT \(columns) FROM refresh_grants \(which)")
        bind(query)
        defer { query.reset() }
        guard try query.step(), let reference = Reference(bytes: query.bytes(1)) else { return nil }
        return Row(
            fence: query.unsigned(0), reference: reference, revision: query.unsigned(2),
            application: query.text(3), boot: query.bytes(4), deadline: query.unsigned(5),
            completed: query.isNull(6) ? nil : query.unsigned(6))
    }
}
