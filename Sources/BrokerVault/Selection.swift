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

    private static let countLimits = [8, 1024]
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
        try candidates(query, grant) { (candidate, unproven) throws(Refusal) in
            let isTheirs = query.reference == nil ? try isOne(of: groups, candidate.groupID) : true
            guard isTheirs && role.sees(candidate.side) else { return .next }
            let row = try stored { () throws(SQLiteError) in
                try tables.row(candidate.id, candidate.side, withSecret: withSecret)
            }
            guard let row, groups.contains(row.header.group) else { return .next }
            guard unproven.allSatisfy(row.header.hasToken) else { return .unproven }
            if seenExpired.contains(row.header.id) { return .next }
            if row.header.hasExpired(at: now) {
                seenExpired.insert(row.header.id)
                return .next
            }
            return admits(row, query) ? try visit(row) : .next
        }
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
        if query.reference == nil, let itemClass = query.itemClass {
            let tokens = try tokens(query.attributes, itemClass)
            if !tokens.isEmpty { return try tables.index.visit(tokens, visitor) }
        }
        // A commit may land on the store thread at any moment. A change is in its transaction already.
        let isRead = !tables.database.isInTransaction
        if isRead { try stored { () throws(SQLiteError) in try tables.database.statement(Self.begin).run() } }
        defer { if isRead { try? tables.database.statement(Self.commit).run() } }
        for candidate in try candidates(query, grant) where try visitor(candidate, []) == .stop { return }
    }

    // Those of the attributes by which items are found, the rarest first, as many as one look takes: an open row is
    // held against the whole query.
    private func tokens(_ attributes: AttributeSet, _ itemClass: ItemClass) throws(Refusal) -> [[UInt8]] {
        let pairs = attributes.pairs.sorted { $0.key.commonness < $1.key.commonness }
        let tokens = pairs.filter { $0.key.isIndexed(in: itemClass) }
            .map { index.token(of: $0.key, $0.value, itemClass: itemClass) }
        guard itemClass == .secretServiceItem else { return tokens }
        let lookups = attributes.lookup.pairs.prefix(IndexTable.tokensMax - tokens.count)
            .map { index.token(of: $0, itemClass: itemClass) }
        return try rarestFirst(lookups) + tokens
    }

    // Nobody can guess how rare what a program calls its attributes is. Counted far are those alone that are all common.
    private func rarestFirst(_ tokens: [[UInt8]]) throws(Refusal) -> [[UInt8]] {
        guard tokens.count > 1 else { return tokens }
        for limit in Self.countLimits {
            var counted: [(token: [UInt8], count: Int)] = []
            for token in tokens {
                let count = try stored { () throws(SQLiteError) in
                    try tables.index.count(token, upTo: limit)
                }
                counted.append((token, count))
            }
            guard counted.contains(where: { $0.count < limit }) else { continue }
            return counted.sorted { $0.count < $1.count }.map(\.token)
        }
        return tokens
    }

    private func candidates(_ query: Query, _ grant: borrowing Grant) throws(Refusal) -> [Candidate] {
        if let reference = query.reference { return try candidates(reference) }
        return try query.itemClass.map { (itemClass) throws(Refusal) in try candidates(itemClass, grant) }
            ?? []
    }

    private func candidates(_ reference: Reference) throws(Refusal) -> [Candidate] {
        try stored { () throws(SQLiteError) in
            if let id = try tables.background.id(of: reference) {
                return [Candidate(id: id, side: .background, created: 0, groupID: 0)]
            }
            guard let id = try tables.foreground.id(of: reference) else { return [] }
            return [Candidate(id: id, side: .foreground, created: 0, groupID: 0)]
        }
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
