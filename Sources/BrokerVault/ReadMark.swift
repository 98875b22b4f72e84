internal import SQLite

/// Keeps a place in the write-ahead log for the reader while nothing is being written.
///
/// A read locks its place there for as long as it lasts: two calls to the kernel, unless another connection of this
/// process has the same place locked. This one has, and is never read from, so that it makes nothing look old.
final class ReadMark {
    private let database: Database
    private var isHeld = false
    private static let begin = SQL("BEGIN")
    private static let look = SQL("SELECT count(*) FROM keybag_slots")
    private static let end = SQL("COMMIT")

    init(_ database: Database) { self.database = database }

    /// Where it cannot be had, a read does without.
    func hold() {
        guard !isHeld else { return }
        do throws(SQLiteError) {
            try database.statement(Self.begin).run()
            isHeld = true
            try database.statement(Self.look).run()
        } catch {
            release()
        }
    }

    /// A log that somebody has a place in cannot start anew.
    func release() {
        guard isHeld else { return }
        isHeld = false
        try? database.statement(Self.end).run()
    }
}
