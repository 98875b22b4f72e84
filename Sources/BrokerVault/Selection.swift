internal import BrokerGate
internal import BrokerModel
internal import SQLite

/// Goes over the rows that a query means, oldest first, by what stands in clear: tokens and headers. What
/// only an open row can tell is left to the visitor.
struct Selection: ~Copyable {
    let tables: Tables
    let index: IndexKey
    let accessibilities: [UInt32: Accessibility]
    let now: UInt64
    let lead: LeadingName

    private static let countMax = 1024
    private static let begin = SQL("BEGIN")
    private static let commit = SQL("COMMIT")

    /// What the visitor wants after a row.
    enum Step {
        case next
        case stop
        /// The row does not say of itself that it is a match; the index may.
        case unproven
    }

    /// Calls `visit` for each row, all of one state of the store. Expired rows do not exist; `seenExpired`
    /// remembers those that were met. The visitor must not write.
    func rows(
        _ query: Query, _ grant: borrowing Grant, withSecret: Bool, seenExpired: inout Set<Int64>,
        visit: (AnyRow) throws(Refusal) -> Step
    ) throws(Refusal) {
        let (groups, role) = (grant.groups, grant.role)
        if let reference = query.reference {
            return try withRow(of: reference, withSecret: withSecret) { (row) throws(Refusal) in
                guard role.sees(row.side), groups.contains(row.header.group) else { return }
                _ = try judge(row, query, &seenExpired, visit)
            }
        }
        try candidates(query, grant) { (candidate, unproven) throws(Refusal) in
            guard try isOne(of: groups, candidate.groupID), role.sees(candidate.side) else { return .next }
            let row = try stored { () throws(SQLiteError) in
                try tables.row(candidate.id, candidate.side, withSecret: withSecret)
            }
            guard let row, groups.contains(row.header.group) else { return .next }
            guard unproven.allSatisfy(row.header.hasToken) else { return .unproven }
            return try judge(row, query, &seenExpired, visit)
        }
    }

    private func judge(
        _ row: AnyRow, _ query: Query, _ seenExpired: inout Set<Int64>,
        _ visit: (AnyRow) throws(Refusal) -> Step
    ) throws(Refusal) -> Step {
        if seenExpired.contains(row.header.id) { return .next }
        if row.header.hasExpired(at: now) {
            seenExpired.insert(row.header.id)
            return .next
        }
        return admits(row, query) ? try visit(row) : .next
    }

    // Most are of the background, and found in one look.
    private func withRow(
        of reference: Reference, withSecret: Bool, _ body: (AnyRow) throws(Refusal) -> Void
    ) throws(Refusal) {
        var isThere = false
        try tables.background.withRow(of: reference, withSecret: withSecret) { (row) throws(Refusal) in
            guard let row else { return }
            isThere = true
            try body(.background(row))
        }
        if isThere { return }
        // Between two looks it might change sides.
        try inOneState { () throws(Refusal) in
            let row = try stored { () throws(SQLiteError) in
                try tables.row(of: reference, withSecret: withSecret)
            }
            if let row { try body(row) }
        }
    }

    // A commit may land on the store thread at any moment. A change is in its transaction already.
    private func inOneState(_ body: () throws(Refusal) -> Void) throws(Refusal) {
        let isRead = !tables.database.isInTransaction
        if isRead { try stored { () throws(SQLiteError) in try tables.database.statement(Self.begin).run() } }
        defer { if isRead { try? tables.database.statement(Self.commit).run() } }
        try body()
    }

    private func admits(_ row: AnyRow, _ query: Query) -> Bool {
        if query.reference != nil {
            // Whoever names no class means one that the contract knows.
            return query.itemClass.map { $0 == row.header.itemClass } ?? !row.header.itemClass.isInternal
        }
        let header = row.header
        return header.itemClass == query.itemClass && query.synchronizable.admits(header.synchronizable)
            && (query.accessGroup == nil || query.accessGroup == header.group)
            && (query.accessible == nil || query.accessible == accessibilities[header.classKeyID])
            && (query.created == nil || query.created == header.created)
            && (query.modified == nil || query.modified == header.modified)
            && (query.revision == nil || query.revision == header.revision)
            && (query.expires == nil || query.expires == header.expires)
            && (query.freshUntil == nil || query.freshUntil == header.freshUntil)
    }

    // By the candidate's number: most callers have groups that never held anything, and so have none.
    private func isOne(of groups: [AccessGroup], _ id: Int64) throws(Refusal) -> Bool {
        let name = try stored { () throws(SQLiteError) in try tables.groups.name(of: id) }
        return name.map(groups.contains) ?? false
    }

    private func candidates(
        _ query: Query, _ grant: borrowing Grant,
        _ visitor: (Candidate, ArraySlice<[UInt8]>) throws(Refusal) -> Step
    ) throws(Refusal) {
        guard let itemClass = query.itemClass else { return }
        let tokens = tokens(query.attributes, itemClass)
        let lookups = itemClass == .secretServiceItem ? query.attributes.lookup.pairs : []
        if !lookups.isEmpty { return try visit(lookups, tokens, itemClass, visitor) }
        if !tokens.isEmpty { return try tables.index.visit(tokens, inOrder: { tokens }, visitor) }
        try inOneState { () throws(Refusal) in
            for candidate in try candidates(itemClass, grant) where try visitor(candidate, []) == .stop {
                return
            }
        }
    }

    // Those of the attributes by which items are found, at a guess the rarest first.
    private func tokens(_ attributes: AttributeSet, _ itemClass: ItemClass) -> [[UInt8]] {
        attributes.pairs.filter { $0.key.isIndexed(in: itemClass) }
            .sorted { $0.key.commonness < $1.key.commonness }
            .map { index.token(of: $0.key, $0.value, itemClass: itemClass) }
    }

    // As many as one look takes: an open row is held against the whole query.
    private func visit(
        _ lookups: [LookupAttributes.Pair], _ others: [[UInt8]], _ itemClass: ItemClass,
        _ visitor: (Candidate, ArraySlice<[UInt8]>) throws(Refusal) -> Step
    ) throws(Refusal) {
        var lookups = lookups.prefix(IndexTable.tokensMax - others.count)
        let led = lookups.firstIndex { $0.name == lead.name }
        if let led { lookups.swapAt(lookups.startIndex, led) }
        let tokens = lookups.map { index.token(of: $0, itemClass: itemClass) }
        if led != nil {
            return try tables.index.visit(
                tokens + others, inOrder: { () throws(Refusal) in try rarestFirst(lookups, tokens) + others },
                visitor)
        }
        let ordered = try rarestFirst(lookups, tokens) + others
        try tables.index.visit(ordered, inOrder: { ordered }, visitor)
    }

    // Nobody can guess how rare what a program calls its attributes is. The first that a walk is enough for leads, the next
    // time too; counted far are those alone that are all common.
    private func rarestFirst(
        _ pairs: ArraySlice<LookupAttributes.Pair>, _ tokens: [[UInt8]]
    ) throws(Refusal) -> [[UInt8]] {
        guard tokens.count > 1 else { return tokens }
        lead.name = nil
        for (place, token) in tokens.enumerated()
        where try count(token, upTo: IndexTable.walkMax + 1) <= IndexTable.walkMax {
            lead.name = pairs[pairs.startIndex + place].name
            return [token] + tokens[..<place] + tokens[(place + 1)...]
        }
        var counts: [Int] = []
        for token in tokens { counts.append(try count(token, upTo: Self.countMax)) }
        guard counts.contains(where: { $0 < Self.countMax }) else { return tokens }
        return tokens.indices.sorted { counts[$0] < counts[$1] }.map { tokens[$0] }
    }

    private func count(_ token: [UInt8], upTo limit: Int) throws(Refusal) -> Int {
        try stored { () throws(SQLiteError) in try tables.index.count(token, upTo: limit) }
    }

    private func candidates(
        _ itemClass: ItemClass, _ grant: borrowing Grant
    ) throws(Refusal) -> [Candidate] {
        var found: [Candidate] = []
        for group in grant.groups {
            let token = index.token(of: itemClass, in: group)
            found += try stored { () throws(SQLiteError) in try tables.index.candidates([token]) }
        }
        guard grant.groups.count > 1 else { return found }
        return found.sorted { ($0.created, $0.id) < ($1.created, $1.id) }
    }
}

extension AttributeKey {
    // How many items share a value of it, at a guess: the rarest token leads a search.
    fileprivate var commonness: Int {
        switch self {
        case .account, .pathName: 0
        case .path: 1
        case .label, .generic, .comment, .description: 2
        case .server, .service: 3
        case .securityDomain, .creator, .port: 4
        case .protocol, .authenticationType, .type, .invisible, .negative, .collection: 5
        case .contentType, .lookup, .aliases, .secretAccessible: 6
        }
    }
}
