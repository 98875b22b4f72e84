internal import BrokerGate
public import BrokerModel
internal import BrokerPeers
internal import BrokerVault
internal import SDBus

extension Desk {
    /// `Subscribe`, in every lock state.
    public func subscribe(
        _ context: CallContext, groups names: [String]
    ) throws(Refusal) -> Outcome<Subscription> {
        try withCaller(context) { (caller) throws(Refusal) in
            let reachable = try self.subscribable(caller, names)
            var epochs: [(group: AccessGroup, epoch: UInt64)] = []
            for group in reachable { epochs.append((group, try self.vault.epoch(of: group))) }
            let sequence = self.subscribers.add(
                caller.connection, groups: Set(reachable),
                epochs: Dictionary(uniqueKeysWithValues: epochs.map { ($0.group, $0.epoch) }))
            self.reminder.remindSoon()
            return .now(Subscription(state: self.vault.state, epochs: epochs, sequence: sequence))
        }
    }

    // The groups that are named, each once, or all of the caller's.
    private func subscribable(_ caller: Caller, _ names: [String]) throws(Refusal) -> [AccessGroup] {
        if names.isEmpty { return try gate.grant(caller, [.subscribe], in: nil).groups }
        var groups: [AccessGroup] = []
        for name in names {
            let group = try Self.group(name)
            _ = try gate.grant(caller, [.subscribe], in: group)
            if !groups.contains(group) { groups.append(group) }
        }
        return groups
    }

    /// `Unsubscribe`; no error where there was no subscription.
    public func unsubscribe(_ context: CallContext) throws(Refusal) -> Outcome<Void> {
        subscribers.remove(context.connection)
        return .now(())
    }

    /// `Acknowledge`.
    public func acknowledge(
        _ context: CallContext, group name: String, epoch: UInt64
    ) throws(Refusal) -> Outcome<Void> {
        try withCaller(context) { (caller) throws(Refusal) in
            let group = try Self.group(name)
            _ = try self.gate.grant(caller, [.subscribe], in: group)
            guard epoch <= (try self.vault.epoch(of: group)) else {
                throw .param("The group has had no such epoch yet.")
            }
            self.subscribers.acknowledge(caller.connection, group, epoch)
            return .now(())
        }
    }
}
