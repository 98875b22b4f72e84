public import BrokerGate
public import BrokerModel
internal import SQLite

extension Vault {
    /// Deletes what has ceased to exist. Returns when the next item will, if one will.
    public func sweep(_ grant: borrowing CustodianGrant) async throws(Refusal) -> UInt64? {
        let store = try openStore()
        // What is due now stays so, also where the disk does not take the change and the clock is set back.
        seenExpired.formUnion(try due(store))
        let seen = seenExpired
        let (notices, swept) = try await store.writer.write { () throws(Refusal) in
            let now = self.now
            let notices = try stored { () throws(SQLiteError) in
                try self.sweep(store.writing, seen, now: now)
            }
            return ((notices, now), notices)
        }
        seenExpired.subtract(seen)
        if !notices.isEmpty { needsCheckpoint = true }
        // From the moment of the sweep: what came due while it was flushed is next, though its time has passed.
        return try stored { () throws(SQLiteError) in
            let times = [
                try store.reading.background.nextExpiry(after: swept),
                try store.reading.foreground.nextExpiry(after: swept),
            ]
            return times.compactMap { $0 }.min()
        }
    }

    private func due(_ store: Store) throws(Refusal) -> [Int64] {
        try stored { () throws(SQLiteError) in
            try store.reading.background.expired(at: now) + store.reading.foreground.expired(at: now)
        }
    }

    // A damaged row may have been given its time by the damage.
    private func sweep(
        _ tables: Tables, _ seen: Set<Int64>, now: UInt64
    ) throws(SQLiteError) -> [Notice] {
        var notices: [Notice] = []
        for side in Accessibility.Side.allCases {
            let due =
                side == .background
                ? try tables.background.expired(at: now) : try tables.foreground.expired(at: now)
            for id in seen.union(due).sorted() {
                guard let row = try tables.row(id, side, withSecret: false) else { continue }
                if case .damaged = keyring.open(row) { continue }
                try tables.remove(row)
                if row.header.itemClass.isInternal { continue }
                notices.append(.changed(row.header, .removed, side: side))
            }
        }
        return notices
    }

    /// Empties the log into the file and truncates it, so that nothing deleted outlives in old frames.
    public func checkpoint(_ grant: borrowing CustodianGrant) async { await checkpoint() }

    func checkpoint() async {
        guard let store else { return }
        needsCheckpoint = await !store.writer.truncateLog()
    }

    /// Opens every row whose class key is in memory. Other calls go on meanwhile.
    public func checkItems(_ grant: borrowing ManagerGrant) async throws(Refusal) -> CheckReport {
        let store = try openStore()
        var report = CheckReport()
        report.isForegroundOpen = state == .unlocked
        for side in Accessibility.Side.allCases {
            let ids = try stored { () throws(SQLiteError) in
                side == .background
                    ? try store.reading.background.ids() : try store.reading.foreground.ids()
            }
            for (position, id) in ids.enumerated() {
                if position % 128 == 127 { await surroundings.breathe() }
                try check(id, side, store, &report)
            }
        }
        return report
    }

    private func check(
        _ id: Int64, _ side: Accessibility.Side, _ store: Store, _ report: inout CheckReport
    ) throws(Refusal) {
        let row = try stored { () throws(SQLiteError) in
            try store.reading.row(id, side, withSecret: true)
        }
        // It may have been deleted since its number was read.
        let isThere = try stored { () throws(SQLiteError) in try store.reading.holds(id, side) }
        guard isThere else { return }
        report.rows[side, default: 0] += 1
        guard let row else {
            report.damaged[side, default: 0] += 1
            return
        }
        switch keyring.open(row) {
        case .locked: break
        case .damaged: report.damaged[side, default: 0] += 1
        case .item(let item):
            var isWhole = keyring.secret(of: row) != nil
            if item.isSecretForeground, keyring.foreground != nil {
                isWhole = try foregroundSecret(of: item, store.reading) != nil && isWhole
            }
            if !isWhole { report.damaged[side, default: 0] += 1 }
        }
    }

    /// What each group holds, by name.
    public func listGroups(
        _ grant: borrowing ManagerGrant
    ) throws(Refusal) -> [GroupRecord] {
        let store = try openStore()
        return try stored { () throws(SQLiteError) in
            try store.reading.groups.all().map {
                GroupRecord(
                    group: $0.group, background: UInt32(clamping: $0.usage.background),
                    foreground: UInt32(clamping: $0.usage.foreground))
            }
        }
    }

    /// The last logout epoch of a group; readable before the first unlock.
    public func epoch(of group: AccessGroup) throws(Refusal) -> UInt64 {
        let store = try openStore()
        return try stored { () throws(SQLiteError) in try store.reading.groups.epoch(of: group) }
    }

    /// Moves every item of the grant's one group to another, all or nothing: for a program that was renamed.
    public func moveItems(
        _ authorize: @escaping Authorization, to target: AccessGroup
    ) async throws(Refusal) -> UInt32 {
        try await change { (writer, _) throws(Refusal) in
            let grant = try authorize()
            let rows = try stored { () throws(SQLiteError) in
                try self.rows(of: "", grant.groups[0], writer, withSecret: true)
            }
            var notices: [Notice] = []
            var moved: UInt32 = 0
            for row in rows {
                switch self.keyring.open(row) {
                case .locked: throw .locked
                case .damaged: continue
                case .item(let attributes):
                    guard let secret = self.keptSecret(of: row) else { continue }
                    notices += try self.apply(
                        Changes(movingTo: target), secret, to: row, attributes, writer, grant)
                    if row.header.itemClass != .secretServiceSecret { moved += 1 }
                }
            }
            return (moved, notices)
        }
    }
}
