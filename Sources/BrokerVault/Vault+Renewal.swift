public import BrokerGate
public import BrokerModel
internal import SQLite

/// The groups that somebody hears of, on each side.
public typealias Listeners = [Accessibility.Side: Set<AccessGroup>]

extension Vault {
    /// How far in the future an item may have been written before the clock is taken for one that was set back. Less is
    /// what keeping a clock right takes.
    private static let setBackMicroseconds: UInt64 = 60_000_000
    /// So many are told before other calls go on.
    private static let renewalsMax = 128

    /// The earliest time of an item that was written since this was last asked for and will want renewing.
    public func takeRenewalTime() -> UInt64? { store?.renewals.takeEarliest() }

    /// What wants renewing by now and was not told of yet, of groups with listeners and of classes whose keys are in
    /// memory: nobody could renew another. Each revision of an item once. Also when to look again: that time has come
    /// already where there is more than one look gives.
    ///
    /// `clockWasSet`: of an item that was written later than now nobody can say how old it is, so it wants renewing too.
    public func renewals(
        _ grant: borrowing CustodianGrant, for listeners: Listeners, clockWasSet: Bool
    ) throws(Refusal) -> (notices: [Notice], next: UInt64?) {
        guard let store else { return ([], nil) }
        store.writer.prepareRead()
        let marks = store.renewals.marks
        do throws(Refusal) {
            return try check { () throws(Refusal) in
                try stored { () throws(SQLiteError) in try look(store, listeners, clockWasSet) }
            }
        } catch {
            store.renewals.marks = marks
            throw error
        }
    }

    private func look(
        _ store: Store, _ listeners: Listeners, _ clockWasSet: Bool
    ) throws(SQLiteError) -> (notices: [Notice], next: UInt64?) {
        var found: (notices: [Notice], next: UInt64?) = ([], nil)
        let (background, foreground) = (store.reading.background, store.reading.foreground)
        if keyring.background != nil { try add(background, listeners, clockWasSet, store, to: &found) }
        if keyring.foreground != nil { try add(foreground, listeners, clockWasSet, store, to: &found) }
        try store.renewals.prune { (reference) throws(SQLiteError) in
            if try background.id(of: reference) != nil { return true }
            return try foreground.id(of: reference) != nil
        }
        return found
    }

    private func add<Side>(
        _ table: ItemTable<Side>, _ listeners: Listeners, _ clockWasSet: Bool, _ store: Store,
        to found: inout (notices: [Notice], next: UInt64?)
    ) throws(SQLiteError) {
        let (now, renewals) = (now, store.renewals)
        for group in listeners[Side.side, default: []].sorted() {
            guard let id = try store.reading.groups.id(of: group) else { continue }
            let place = Renewals.Place(group: group, side: Side.side)
            func add(_ renewal: Renewal) {
                found.notices.append(
                    .refreshNeeded(group: group, reference: renewal.reference, side: Side.side))
            }
            var reached = renewals.start(of: place)
            try table.renewals(of: id, from: reached) { renewal in
                guard renewal.time <= now, found.notices.count < Self.renewalsMax else {
                    found.next = min(renewal.time, found.next ?? .max)
                    return false
                }
                reached = renewal.time
                if !renewal.hasExpired(at: now), renewals.tell(renewal) { add(renewal) }
                return true
            }
            renewals.reach(reached, at: place)
            guard clockWasSet else { continue }
            for renewal in try table.renewals(of: id, modifiedAfter: now + Self.setBackMicroseconds)
            where !renewal.hasExpired(at: now) && renewals.tellFromFuture(renewal) { add(renewal) }
        }
    }
}
