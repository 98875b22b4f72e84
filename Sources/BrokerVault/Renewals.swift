internal import BrokerModel
internal import SQLite

/// Which items were said to want renewing, and from where on to look for more. It lives as long as the open store.
final class Renewals {
    /// The items of one group on one side.
    struct Place: Hashable {
        let group: AccessGroup
        let side: Accessibility.Side
    }

    /// Whatever comes before was told of. A place that is not here was never looked at.
    private var reached: [Place: UInt64] = [:]
    private var told: [Reference: UInt64] = [:]
    /// Told of because they were written later than now. However often they are renewed, that may stay so.
    private var toldFromFuture: Set<Reference> = []
    private var written: [Place: UInt64] = [:]
    private var earliest: UInt64?
    private var toldMax = 1024

    /// How many revisions are remembered as told of.
    var toldCount: Int { told.count }

    /// A row was written that may yet be taken back.
    func wrote(_ header: RowHeader, _ side: Accessibility.Side) {
        guard let time = header.renewalTime else { return }
        written[Place(group: header.group, side: side), default: .max].lower(to: time)
    }

    /// What was written is there to be read.
    func committed() {
        for (place, time) in written {
            reached[place]?.lower(to: time)
            earliest = min(time, earliest ?? .max)
        }
        written = [:]
    }

    /// The earliest time of the items that were written since it was last asked for.
    func takeEarliest() -> UInt64? {
        defer { earliest = nil }
        return earliest
    }

    func start(of place: Place) -> UInt64 { reached[place, default: 0] }

    func reach(_ time: UInt64, at place: Place) { reached[place] = time }

    /// True the first time for each revision of an item.
    func tell(_ renewal: Renewal) -> Bool {
        told.updateValue(renewal.revision, forKey: renewal.reference) != renewal.revision
    }

    /// The same for an item that was written later than now: the first time for each item.
    func tellFromFuture(_ renewal: Renewal) -> Bool {
        toldFromFuture.insert(renewal.reference).inserted && tell(renewal)
    }

    /// What was told and looked at, to be put back where a look fails and nobody hears of it.
    var marks: (reached: [Place: UInt64], told: [Reference: UInt64], fromFuture: Set<Reference>) {
        get { (reached, told, toldFromFuture) }
        set { (reached, told, toldFromFuture) = newValue }
    }

    /// Forgets items that are gone, once it remembers twice as many as there were.
    func prune(isThere: (Reference) throws(SQLiteError) -> Bool) throws(SQLiteError) {
        guard told.count > toldMax else { return }
        for reference in told.keys where try !isThere(reference) {
            told[reference] = nil
            toldFromFuture.remove(reference)
        }
        toldMax = max(1024, 2 * told.count)
    }
}

extension UInt64 {
    fileprivate mutating func lower(to other: UInt64) { self = Swift.min(self, other) }
}
