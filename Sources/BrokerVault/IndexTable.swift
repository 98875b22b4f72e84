internal import BrokerModel
internal import SQLite

/// Where an item is found: its number and the side that holds it.
struct Candidate {
    let id: Int64
    let side: Accessibility.Side
    let created: UInt64
    let groupID: Int64
}

/// The index of tokens, and the primary keys, which are unique over both sides.
struct IndexTable {
    let database: Database

    /// The items that stand under every one of the tokens, oldest first: by creation, then by adding.
    func candidates(_ tokens: [[UInt8]]) throws(SQLiteError) -> [Candidate] {
        let query = try query(tokens)
        defer { query.reset() }
        var found: [Candidate] = []
        while try query.step() {
            if let candidate = candidate(of: query) { found.append(candidate) }
        }
        return found
    }

    /// Visits the same one by one, until the visitor wants no more. What it reads meanwhile is of the state of the store
    /// that this look began with; it must not write.
    ///
    /// The first token mostly leads to one item or two, and those have the others beside them: the visitor gets what is
    /// still to be found there. Where it is not, the index is asked for all of them, `inOrder`.
    func visit(
        _ tokens: [[UInt8]], inOrder: () throws(Refusal) -> [[UInt8]],
        _ visitor: (Candidate, ArraySlice<[UInt8]>) throws(Refusal) -> Selection.Step
    ) throws(Refusal) {
        let walk = try stored { () throws(SQLiteError) -> Statement in try query([tokens[0]]) }
        // Open to the end: it holds the state of the store for the look that may follow.
        defer { walk.reset() }
        var visited = 0
        while try stored({ () throws(SQLiteError) -> Bool in try walk.step() }) {
            guard let candidate = candidate(of: walk) else { continue }
            let step = visited < Self.walkMax ? try visitor(candidate, tokens.dropFirst()) : .unproven
            switch step {
            case .stop: return
            case .unproven: return try visitProven(inOrder(), from: candidate, visitor)
            case .next: visited += 1
            }
        }
    }

    private func visitProven(
        _ tokens: [[UInt8]], from first: Candidate,
        _ visitor: (Candidate, ArraySlice<[UInt8]>) throws(Refusal) -> Selection.Step
    ) throws(Refusal) {
        let query = try stored { () throws(SQLiteError) -> Statement in try self.query(tokens) }
        defer { query.reset() }
        while try stored({ () throws(SQLiteError) -> Bool in try query.step() }) {
            guard let candidate = candidate(of: query),
                (candidate.created, candidate.id) >= (first.created, first.id)
            else { continue }
            if try visitor(candidate, []) == .stop { return }
        }
    }

    private func query(_ tokens: [[UInt8]]) throws(SQLiteError) -> Statement {
        let query = try database.statement(Self.intersections[tokens.count])
        for (index, token) in tokens.enumerated() { query.bind(token, at: Int32(index + 1)) }
        return query
    }

    private func candidate(of query: Statement) -> Candidate? {
        guard let side = UInt8(exactly: query.number(2)).flatMap(Accessibility.Side.init(rawValue:))
        else { return nil }
        return Candidate(
            id: query.number(1), side: side, created: query.unsigned(0), groupID: query.number(3))
    }

    /// How many items stand under a token, counted up to a limit.
    func count(_ token: [UInt8], upTo limit: Int) throws(SQLiteError) -> Int {
        let query = try database.statement(Self.countToken)
        query.bind(token, at: 1)
        query.bind(Int64(limit), at: 2)
        defer { query.reset() }
        return try query.step() ? Int(query.number(0)) : 0
    }

    /// So many rows are looked at before the index is asked for all tokens.
    static let walkMax = 4

    /// So many tokens can be looked for at once.
    static let tokensMax = AttributeKey.allCases.count

    // CROSS JOIN keeps the order of the tokens, which the caller gives rarest first: the first is walked
    // in the order of its index, each further one is a look-up by its whole key.
    private static let intersections = (0...tokensMax).map { SQL(intersection(of: $0)) }
    private static let countToken = SQL(
        "SELECT count(*) FROM (SELECT 1 FROM tokens WHERE token = ?1 LIMIT ?2)")
    private static let insertToken = SQL("INSERT OR REPLACE INTO tokens VALUES (?1, ?2, ?3, ?4, ?5)")
    private static let insertKey = SQL("INSERT OR REPLACE INTO primary_keys VALUES (?1, ?2, ?3)")
    private static let holder = SQL("SELECT item, side FROM primary_keys WHERE token = ?1")

    private static func intersection(of count: Int) -> String {
        var sql = "SELECT t0.created, t0.item, t0.side, t0.group_id FROM tokens t0"
        for index in 1..<max(1, count) {
            sql += " CROSS JOIN tokens t\(index) ON t\(index).token = ?\(index + 1)"
            sql += " AND t\(index).created = t0.created AND t\(index).item = t0.item"
        }
        return sql + " WHERE t0.token = ?1 ORDER BY t0.created, t0.item"
    }

    /// The item that has a primary key.
    func holder(of primaryToken: [UInt8]) throws(SQLiteError) -> (id: Int64, side: Accessibility.Side)? {
        let query = try database.statement(Self.holder)
        query.bind(primaryToken, at: 1)
        defer { query.reset() }
        guard try query.step(),
            let side = UInt8(exactly: query.number(1)).flatMap(Accessibility.Side.init(rawValue:))
        else { return nil }
        return (query.number(0), side)
    }

    /// Brings the index from what stood there for an item to what shall stand there; nil for nothing.
    /// Entries that stay are not touched.
    func change(from old: Entry?, to new: Entry?) throws(SQLiteError) {
        let isInPlace = old.map { old in new.map { old.isInPlace(of: $0) } ?? false } ?? false
        let (before, after) = (old?.header.tokenList ?? [], new?.header.tokenList ?? [])
        // An item may have a thousand.
        let (there, wanted) = (Set(before), Set(after))
        if let old {
            for token in before where !isInPlace || !wanted.contains(token) {
                try delete(token, of: old.header)
            }
            if old.header.primaryToken != new?.header.primaryToken {
                try deletePrimaryKey(old.header)
            }
        }
        guard let new else { return }
        for token in after where !isInPlace || !there.contains(token) {
            try insert(token, of: new)
        }
        if !isInPlace || old?.header.primaryToken != new.header.primaryToken {
            try insertPrimaryKey(new)
        }
    }

    /// An item's place in the index.
    struct Entry {
        let header: RowHeader
        let side: Accessibility.Side

        func isInPlace(of other: Entry) -> Bool {
            side == other.side && header.id == other.header.id && header.groupID == other.header.groupID
                && header.created == other.header.created
        }
    }

    private func insert(_ token: [UInt8], of entry: Entry) throws(SQLiteError) {
        let insert = try database.statement(Self.insertToken)
        insert.bind(token, at: 1)
        insert.bind(Int64(entry.header.created), at: 2)
        insert.bind(entry.header.id, at: 3)
        insert.bind(Int64(entry.side.rawValue), at: 4)
        insert.bind(entry.header.groupID, at: 5)
        try insert.run()
    }

    private func insertPrimaryKey(_ entry: Entry) throws(SQLiteError) {
        let insert = try database.statement(Self.insertKey)
        insert.bind(entry.header.primaryToken, at: 1)
        insert.bind(entry.header.id, at: 2)
        insert.bind(Int64(entry.side.rawValue), at: 3)
        try insert.run()
    }

    private func delete(_ token: [UInt8], of header: RowHeader) throws(SQLiteError) {
        let delete = try database.statement(
            "DELETE FROM tokens WHERE token = ?1 AND created = ?2 AND item = ?3")
        delete.bind(token, at: 1)
        delete.bind(Int64(header.created), at: 2)
        delete.bind(header.id, at: 3)
        try delete.run()
    }

    // By the item as well: a damaged row may name another item's key.
    private func deletePrimaryKey(_ header: RowHeader) throws(SQLiteError) {
        let delete = try database.statement("DELETE FROM primary_keys WHERE token = ?1 AND item = ?2")
        delete.bind(header.primaryToken, at: 1)
        delete.bind(header.id, at: 2)
        try delete.run()
    }
}
