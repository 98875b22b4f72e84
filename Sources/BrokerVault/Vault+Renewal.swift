public import BrokerGate
public import BrokerModel
internal import SQLite

/// The groups that somebody hears of, on each side.
public typealias Listeners = [Accessibility.Side: Set<AccessGroup>]

extension Vault {
    /// How far in the future an item may have been written before the clock is taken for one that was set back. Less is
    /// what keeping a clock right takes.
    private static let setBackMicroseconds: UInt64 = 60_000_000

    /// The earliest time of an item that was written since this was last asked for and will want renewing.
    public func takeRenewalTime() -> UInt64? { store?.renewals.takeEarliest() }

    /// What wants renewing by now and was not told of yet, of groups with listeners and of classes whose keys are in
    /// memory: nobody could renew another. Each revision of an item once. Also when the next item will want it.
    ///
    /// `clockWasSet`: of an item that was written later than now nobody can say how old it is, so it wants renewing too.
    public func renewals(
        _ grant: borrowing CustodianGrant, for listeners: Listeners, clockWasSet: Bool
    ) throws(Refusal) -> (notices: [Notice], next: UInt64?) {
        guard let store else { return ([], nil) }
        store.writer.prepareRead()
        return try check { () throws(Refusal) in
            try stored { () throws(SQLiteError) in
                var found: (notices: [Notice], next: UInt64?) = ([], nil)
                if keyring.background != nil {
                    try add(store.reading.background, listeners, clockWasSet, store, to: &found)
                }
                if keyring.foreground != nil {
                    try add(store.reading.foreground, listeners, clockWasSet, store, to: &found)
                }
                let sides = (store.reading.background, store.reading.foreground)
                try store.renewals.prune { (reference) throws(SQLiteError) in
                    if try sides.0.id(of: reference) != nil { return true }
                    return try sides.1.id(of: reference) != nil
                }
                return found
            }
        }
    }

    private func add<Side>(
        _ table: ItemTable<Side>, _ listeners: Listeners, _ clockWasSet: Bool, _ store: Store,
        to found: inout (notices: [Notice], next: UInt64?)
    ) throws(SQLiteError) {
        let (now, renewals) = (now, store.renewals)
        for group in listeners[Side.side, default: []].sorted() {
            guard let id = try store.reading.groups.id(of: group) else { continue }
            let place = Renewals.Place(group: group, side: Side.side)
            func tell(_ renewal: Renewal) {
                guard renewal.expires.map({ $0 > now }) ?? true, renewals.tell(renewal) else { return }
                found.notices.append(
                    .refreshNeeded(group: group, reference: renewal.reference, side: Side.side))
            }
            var reached = renewals.start(of: place)
            try table.renewals(of: id, from: reached) { renewal in
                guard renewal.time <= now else {
                    found.next = min(renewal.time, found.next ?? .max)
                    return false
                }
                reached = renewal.time
                tell(renewal)
                return true
            }
            renewals.reach(reached, at: place)
            guard clockWasSet else { continue }
            for renewal in try table.renewals(of: id, modifiedAfter: now + Self.setBackMicroseconds) {
                tell(renewal)
            }
        }
    }
}
