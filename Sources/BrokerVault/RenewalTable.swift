internal import BrokerModel
internal import SQLite

/// What is known of an item that wants renewing without opening it.
struct Renewal {
    let time: UInt64
    let reference: Reference
    let revision: UInt64
    let expires: UInt64?

    func hasExpired(at now: UInt64) -> Bool { expires.map { $0 <= now } ?? false }
}

extension ItemTable {
    /// ``RowHeader/renewalTime`` in SQL, for rows that have a `fresh_until`. The index is on these very words.
    static var renewalTime: String {
        """
        min(fresh_until, modified + (fresh_until - modified) / 100
            * (74 + instr('0123456789ABCDEF', substr(hex(reference), 1, 1))))
        """
    }

    /// Goes over a group's items in the order in which they want renewing, from a time on, until `visit` says false.
    func renewals(
        of groupID: Int64, from time: UInt64, _ visit: (Renewal) -> Bool
    ) throws(SQLiteError) {
        let query = try database.statement(
            """
            SELECT \(Self.renewalTime), reference, revision, expires FROM \(Side.table)
            WHERE fresh_until IS NOT NULL AND group_id = ?1 AND \(Self.renewalTime) >= ?2
            ORDER BY \(Self.renewalTime)
            """)
        query.bind(groupID, at: 1)
        query.bind(Int64(clamping: time), at: 2)
        try go(over: query, visit)
    }

    /// The same for items that say they were written after that moment.
    func renewals(of groupID: Int64, modifiedAfter time: UInt64) throws(SQLiteError) -> [Renewal] {
        let query = try database.statement(
            """
            SELECT \(Self.renewalTime), reference, revision, expires FROM \(Side.table)
            WHERE fresh_until IS NOT NULL AND group_id = ?1 AND modified > ?2
            """)
        query.bind(groupID, at: 1)
        query.bind(Int64(clamping: time), at: 2)
        var found: [Renewal] = []
        try go(over: query) {
            found.append($0)
            return true
        }
        return found
    }

    private func go(over query: Statement, _ visit: (Renewal) -> Bool) throws(SQLiteError) {
        defer { query.reset() }
        while try query.step() {
            guard let reference = Reference(bytes: query.bytes(1)) else { continue }
            let renewal = Renewal(
                time: query.unsigned(0), reference: reference, revision: query.unsigned(2),
                expires: query.isNull(3) ? nil : query.unsigned(3))
            guard visit(renewal) else { return }
        }
    }
}

extension RowHeader {
    /// When an item should be renewed: after 75 to 90 percent of the time from its last change to its `FreshUntil`. Which
    /// percent is the reference's to say: many items of one moment do not come at once, and a restart changes nothing.
    var renewalTime: UInt64? {
        guard let freshUntil else { return nil }
        let (end, start) = (Int64(clamping: freshUntil), Int64(clamping: modified))
        let percent = 75 + Int64(reference.bytes[0] >> 4)
        return UInt64(max(0, min(end, start + (end - start) / 100 * percent)))
    }
}
