internal import BrokerModel

/// Who refreshes what: the leases of one keychain, in memory. The grants behind them are in the store.
///
/// It knows no clock: times are microseconds of CLOCK_MONOTONIC, and are given to it.
final class LeaseBoard {
    /// How long a holder has.
    static let leaseMicroseconds: UInt64 = 60_000_000
    /// The pause after the first failure in passing; it doubles with each that follows.
    static let pauseMicroseconds: UInt64 = 1_000_000
    /// The longest pause.
    static let pauseMicrosecondsMax: UInt64 = 60_000_000
    /// Fences that are remembered of one connection, the latest ones.
    static let fencesPerConnectionMax = 256

    /// A grant that was made here.
    struct Lease: Equatable {
        let fence: UInt64
        let reference: Reference
        let connection: String
        let application: String
        /// What a logout would call the item's service.
        let service: String
        let deadline: UInt64
    }

    /// What a caller that wants to refresh is to do.
    enum Turn: Equatable {
        /// Ask the store for a grant, then say `granted` or `release`.
        case yours
        /// Somebody else is at it, or a pause runs: until then at most.
        case wait(until: UInt64)
    }

    private struct Place {
        var isAsking = false
        var lease: Lease?
        /// The end of a grant that an earlier broker made, or of a pause.
        var closedUntil: UInt64 = 0
        var failures: UInt64 = 0
    }

    private var places: [Reference: Place] = [:]
    private var fences: [UInt64: Lease] = [:]
    private var fencesOf: [String: [UInt64]] = [:]
    /// Is told of items that somebody else may have a turn with, or read anew.
    var freed: (Reference) -> Void = { _ in }

    /// Takes the turn, or says how long it is somebody else's.
    func claim(_ reference: Reference, now: UInt64) -> Turn {
        let place = places[reference] ?? Place()
        if place.isAsking { return .wait(until: .max) }
        if let lease = place.lease, lease.deadline > now { return .wait(until: lease.deadline) }
        if place.closedUntil > now { return .wait(until: place.closedUntil) }
        places[reference, default: Place()].isAsking = true
        return .yours
    }

    /// The turn became a lease.
    func granted(_ lease: Lease) {
        places[lease.reference, default: Place()].isAsking = false
        places[lease.reference]?.lease = lease
        fences[lease.fence] = lease
        fencesOf[lease.connection, default: []].append(lease.fence)
        // Who came meanwhile knows no end of its waiting yet.
        freed(lease.reference)
        guard let known = fencesOf[lease.connection], known.count > Self.fencesPerConnectionMax else {
            return
        }
        fences[known[0]] = nil
        fencesOf[lease.connection]?.removeFirst()
    }

    /// The turn came to nothing; until `closedUntil` nobody gets the next.
    func release(_ reference: Reference, closedUntil: UInt64 = 0) {
        var place = places[reference] ?? Place()
        place.isAsking = false
        place.closedUntil = max(closedUntil, place.closedUntil)
        places[reference] = place
        settle(reference)
    }

    /// The lease that a fence was given out with, open or not; nil for one that this broker did not give out.
    func lease(of fence: UInt64) -> Lease? { fences[fence] }

    /// The item is another one now, or is gone: nobody refreshes what it was.
    func end(_ reference: Reference) {
        guard places[reference] != nil else { return }
        places[reference]?.lease = nil
        places[reference]?.closedUntil = 0
        places[reference]?.failures = 0
        settle(reference)
    }

    /// The holder failed in passing. The pause has some chance in it (`chance` in 0 to 1), so that not all who failed
    /// together try together.
    func failed(_ fence: UInt64, _ reference: Reference, now: UInt64, chance: Double) {
        // Its time may have been over, and the item another's, while the store was told.
        if let lease = places[reference]?.lease, lease.fence != fence { return }
        let failures = (places[reference]?.failures ?? 0) + 1
        let doubled = Self.pauseMicroseconds << min(failures - 1, 16)
        let pause = Double(min(doubled, Self.pauseMicrosecondsMax)) * (0.5 + 0.5 * min(max(chance, 0), 1))
        places[reference, default: Place()].lease = nil
        places[reference]?.failures = failures
        places[reference]?.closedUntil = now + UInt64(pause)
        settle(reference)
    }

    /// The connection is gone, and its leases end. Returns those that were open.
    func forget(_ connection: String) -> [Lease] {
        var ended: [Lease] = []
        for fence in fencesOf.removeValue(forKey: connection) ?? [] {
            guard let lease = fences.removeValue(forKey: fence), places[lease.reference]?.lease == lease
            else { continue }
            ended.append(lease)
            places[lease.reference]?.lease = nil
            settle(lease.reference)
        }
        return ended
    }

    private func settle(_ reference: Reference) {
        if let place = places[reference], !place.isAsking, place.lease == nil, place.failures == 0,
            place.closedUntil == 0
        {
            places[reference] = nil
        }
        freed(reference)
    }
}
