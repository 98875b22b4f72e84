internal import BrokerModel
internal import SQLite

/// Access groups by number, with what is counted for each: revisions, logout epochs, items, bytes.
///
/// Names and numbers are never changed or used again, so what was read once may be remembered.
final class GroupTable {
    private let database: Database
    private let isReader: Bool
    private var ids: [AccessGroup: Int64] = [:]
    private var names: [Int64: AccessGroup] = [:]

    /// `isReader`: what this connection sees is committed, so that it may be remembered.
    init(database: Database, isReader: Bool) {
        self.database = database
        self.isReader = isReader
    }

    /// Nil for a group that never held anything.
    func id(of group: AccessGroup) throws(SQLiteError) -> Int64? {
        if let id = ids[group] { return id }
        let query = try database.statement("SELECT id FROM groups WHERE name = ?1")
        query.bind(group.name, at: 1)
        defer { query.reset() }
        guard try query.step() else { return nil }
        remember(group, query.number(0))
        return query.number(0)
    }

    func name(of id: Int64) throws(SQLiteError) -> AccessGroup? {
        if let name = names[id] { return name }
        let query = try database.statement("SELECT name FROM groups WHERE id = ?1")
        query.bind(id, at: 1)
        defer { query.reset() }
        guard try query.step(), let group = AccessGroup(query.text(0)) else { return nil }
        remember(group, id)
        return group
    }

    /// The number of a group, which is made where there is none.
    func makeID(of group: AccessGroup) throws(SQLiteError) -> Int64 {
        if let id = try id(of: group) { return id }
        let insert = try database.statement("INSERT INTO groups (name) VALUES (?1) RETURNING id")
        insert.bind(group.name, at: 1)
        defer { insert.reset() }
        return try insert.step() ? insert.number(0) : 0
    }

    /// The next revision of the group, which never comes back.
    func nextRevision(_ id: Int64) throws(SQLiteError) -> UInt64 { try raise("revision", of: id) }

    /// The next logout epoch of the group.
    func nextEpoch(_ id: Int64) throws(SQLiteError) -> UInt64 { try raise("epoch", of: id) }

    /// The last logout epoch; 0 where there was no logout.
    func epoch(of group: AccessGroup) throws(SQLiteError) -> UInt64 {
        let query = try database.statement("SELECT epoch FROM groups WHERE name = ?1")
        query.bind(group.name, at: 1)
        defer { query.reset() }
        return try query.step() ? query.unsigned(0) : 0
    }

    /// What a group holds.
    struct Usage {
        var background = 0
        var foreground = 0
        var bytes = 0
        var items: Int { background + foreground }
    }

    func usage(of id: Int64) throws(SQLiteError) -> Usage {
        let query = try database.statement(
            "SELECT background, foreground, bytes FROM groups WHERE id = ?1")
        query.bind(id, at: 1)
        defer { query.reset() }
        guard try query.step() else { return Usage() }
        return usage(of: query, from: 0)
    }

    // No store of ours holds 2^48 of anything, and with less no sum overflows.
    private func usage(of query: Statement, from column: Int32) -> Usage {
        let counts = (column..<column + 3).map { Int(min(query.unsigned($0), 1 << 48)) }
        return Usage(background: counts[0], foreground: counts[1], bytes: counts[2])
    }

    /// Adds to what a group holds; the numbers may be negative.
    func count(_ id: Int64, items: Int64, bytes: Int, side: Accessibility.Side) throws(SQLiteError) {
        let column = side == .background ? "background" : "foreground"
        let update = try database.statement(
            "UPDATE groups SET \(column) = \(column) + ?2, bytes = bytes + ?3 WHERE id = ?1")
        update.bind(id, at: 1)
        update.bind(items, at: 2)
        update.bind(Int64(bytes), at: 3)
        try update.run()
    }

    /// Every group that holds something, by name.
    func all() throws(SQLiteError) -> [(group: AccessGroup, usage: Usage)] {
        let query = try database.statement(
            """
            SELECT name, background, foreground, bytes FROM groups
            WHERE background > 0 OR foreground > 0 ORDER BY name
            """)
        defer { query.reset() }
        var found: [(AccessGroup, Usage)] = []
        while try query.step() {
            guard let group = AccessGroup(query.text(0)) else { continue }
            found.append((group, usage(of: query, from: 1)))
        }
        return found
    }

    private func raise(_ column: String, of id: Int64) throws(SQLiteError) -> UInt64 {
        let update = try database.statement(
            "UPDATE groups SET \(column) = \(column) + 1 WHERE id = ?1 RETURNING \(column)")
        update.bind(id, at: 1)
        defer { update.reset() }
        return try update.step() ? update.unsigned(0) : 0
    }

    private func remember(_ group: AccessGroup, _ id: Int64) {
        guard isReader else { return }
        ids[group] = id
        names[id] = group
    }
}
