internal import BrokerGate
internal import BrokerModel
internal import BrokerPeers
internal import BrokerVault
internal import SDBus

/// Who asked to be told. What a subscriber may hear is asked of the gate with every notice, so a policy that
/// took a group away takes its signals away too.
@BrokerActor final class Subscribers {
    private struct Subscriber {
        var groups: Set<AccessGroup> = []
        var sequence: UInt64 = 0
        /// For each group the last logout that was told, and the last that was acknowledged.
        var told: [AccessGroup: UInt64] = [:]
        var acknowledged: [AccessGroup: UInt64] = [:]
    }

    private var subscribers: [String: Subscriber] = [:]
    private var order: [String] = []
    private var lastTold: [AccessGroup: (epoch: UInt64, count: UInt32)] = [:]

    /// Signals follow from now on; a second call replaces the groups and keeps the sequence. Returns the
    /// sequence.
    func add(_ connection: String, groups: Set<AccessGroup>, epochs: [AccessGroup: UInt64]) -> UInt64 {
        if subscribers[connection] == nil { order.append(connection) }
        subscribers[connection, default: Subscriber()].groups = groups
        // What the subscriber learns from this answer it need not be told again.
        for (group, epoch) in epochs { subscribers[connection]?.acknowledged[group] = epoch }
        return subscribers[connection]?.sequence ?? 0
    }

    func remove(_ connection: String) {
        guard subscribers.removeValue(forKey: connection) != nil else { return }
        order.removeAll { $0 == connection }
    }

    /// After a new policy: who lost a group hears of it no more, also when it comes back, and who lost all has
    /// no subscription any more.
    func narrow(to entitled: (String) -> Set<AccessGroup>) {
        for connection in order {
            subscribers[connection]?.groups.formIntersection(entitled(connection))
            if subscribers[connection]?.groups.isEmpty == true { remove(connection) }
        }
    }

    /// The subscriber has dropped what it held.
    func acknowledge(_ connection: String, _ group: AccessGroup, _ epoch: UInt64) {
        guard let known = subscribers[connection]?.acknowledged[group, default: 0] else { return }
        subscribers[connection]?.acknowledged[group] = max(known, epoch)
    }

    /// The groups of a subscriber, by name; none for a connection that has not subscribed.
    func groups(of connection: String) -> [AccessGroup] { subscribers[connection]?.groups.sorted() ?? [] }

    /// Logouts that the subscriber was told of and has not acknowledged.
    func pendingLogouts(of connection: String) -> UInt32 {
        guard let subscriber = subscribers[connection] else { return 0 }
        return subscriber.told.reduce(0) { sum, entry in
            let done = subscriber.acknowledged[entry.key, default: 0]
            return sum + UInt32(clamping: entry.value > done ? entry.value - done : 0)
        }
    }

    /// How many subscribers heard of a group's logout.
    func told(_ group: AccessGroup, epoch: UInt64) -> UInt32 {
        guard let last = lastTold[group], last.epoch == epoch else { return 0 }
        return last.count
    }

    /// Sends a notice to everyone who may hear it.
    func deliver(
        _ notice: Notice, gate: Gate, peers: Peers, tell: (Notice, UInt64, String) -> Void
    ) {
        var count: UInt32 = 0
        for connection in order {
            guard let caller = peers.known(connection),
                let audible = audible(notice, to: caller, gate)
            else { continue }
            subscribers[connection]?.sequence += 1
            if case .loggedOut(let group, _, let epoch, _) = notice {
                subscribers[connection]?.told[group] = epoch
            }
            count += 1
            tell(audible, subscribers[connection]?.sequence ?? 0, connection)
        }
        if case .loggedOut(let group, _, let epoch, _) = notice { lastTold[group] = (epoch, count) }
    }

    // The form of a notice that this subscriber may hear; nil for none.
    private func audible(
        _ notice: Notice, to caller: Caller, _ gate: Gate
    ) -> Notice? {
        switch notice {
        case .lockStateChanged:
            let groups = subscribers[caller.connection]?.groups ?? []
            return groups.contains { gate.isAudible($0, to: caller) } ? notice : nil
        case .loggedOut(let group, _, _, _): return hears(group, caller, gate) ? notice : nil
        case .refreshNeeded(let group, _, let side):
            return hears(group, caller, gate) && gate.entitlements(of: caller).role.sees(side) ? notice : nil
        case .itemChanged(let group, let reference, let change, let revision, let side, let previous):
            guard hears(group, caller, gate) else { return nil }
            if gate.entitlements(of: caller).role == .full { return notice }
            // To a background program an item that changed vaults came into being, or ceased to be.
            switch (previous, side) {
            case (.background, .background): return notice
            case (.foreground, .foreground): return nil
            case (.foreground, .background), (.background, .foreground):
                let seen: Notice.Change = side == .background ? .added : .removed
                return .itemChanged(
                    group: group, reference: reference, change: change == .removed ? .removed : seen,
                    revision: revision, side: side, previousSide: previous)
            }
        }
    }

    /// The groups of which somebody hears, on each side.
    func listeners(_ gate: Gate, _ peers: Peers) -> Listeners {
        var listeners: Listeners = [:]
        for (connection, subscriber) in subscribers {
            guard let caller = peers.known(connection) else { continue }
            let groups = subscriber.groups.filter { gate.isAudible($0, to: caller) }
            let role = gate.entitlements(of: caller).role
            for side in Accessibility.Side.allCases where role.sees(side) {
                listeners[side, default: []].formUnion(groups)
            }
        }
        return listeners
    }

    private func hears(_ group: AccessGroup, _ caller: Caller, _ gate: Gate) -> Bool {
        subscribers[caller.connection]?.groups.contains(group) == true && gate.isAudible(group, to: caller)
    }
}
