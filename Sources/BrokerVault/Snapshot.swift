internal import SQLite

/// A read transaction that reads share while nobody writes: each of its own would lock and unlock the log twice
/// for every statement.
///
/// It is let go before a write or a checkpoint begins, so that neither waits for it, and taken anew when it is
/// older than a moment, so that a file that was changed from outside is noticed.
final class Snapshot {
    private let database: Database
    private var since: UInt64?

    private static let ageMicrosecondsMax: UInt64 = 50_000

    init(_ database: Database) { self.database = database }

    func hold(now: UInt64) throws(SQLiteError) {
        if let since, now >= since, now - since < Self.ageMicrosecondsMax { return }
        release()
        try database.execute("BEGIN")
        since = now
    }

    func release() {
        guard since != nil else { return }
        since = nil
        // A transaction that only read has nothing that could fail to be kept.
        try? database.execute("COMMIT")
    }
}
