internal import BrokerGate
public import BrokerModel
internal import BrokerPeers
internal import BrokerVault
internal import SDBus
public import Sodium

/// What is about one keychain goes to its desk.
extension Desks {
    /// `Add`.
    public func add(
        _ context: CallContext, _ attributes: WireDictionary, _ secret: SharedSecret
    ) throws(Refusal) -> Outcome<StoredItem> {
        try forward(context) { (desk) throws(Refusal) in try desk.add(context, attributes, secret) }
    }

    /// `Store`.
    public func store(
        _ context: CallContext, _ attributes: WireDictionary, _ secret: SharedSecret
    ) throws(Refusal) -> Outcome<StoredItem> {
        try forward(context) { (desk) throws(Refusal) in try desk.store(context, attributes, secret) }
    }

    /// `Read`.
    public func read(
        _ context: CallContext, _ query: WireDictionary
    ) throws(Refusal) -> Outcome<ItemWithSecret> {
        try forward(context) { (desk) throws(Refusal) in try desk.read(context, query) }
    }

    /// `ReadAll`.
    public func readAll(
        _ context: CallContext, _ query: WireDictionary
    ) throws(Refusal) -> Outcome<[ItemWithSecret]> {
        try forward(context) { (desk) throws(Refusal) in try desk.readAll(context, query) }
    }

    /// `Search`.
    public func search(
        _ context: CallContext, _ query: WireDictionary
    ) throws(Refusal) -> Outcome<[ItemAttributes]> {
        try forward(context) { (desk) throws(Refusal) in try desk.search(context, query) }
    }

    /// `Update`.
    public func update(
        _ context: CallContext, _ query: WireDictionary, _ changes: WireDictionary, _ secret: SharedSecret?
    ) throws(Refusal) -> Outcome<UInt32> {
        try forward(context) { (desk) throws(Refusal) in try desk.update(context, query, changes, secret) }
    }

    /// `Delete`.
    public func delete(_ context: CallContext, _ query: WireDictionary) throws(Refusal) -> Outcome<UInt32> {
        try forward(context) { (desk) throws(Refusal) in try desk.delete(context, query) }
    }

    /// `Logout`.
    public func logout(
        _ context: CallContext, group: String, service: String, reason: String
    ) throws(Refusal) -> Outcome<LogoutOutcome> {
        try forward(context) { (desk) throws(Refusal) in
            try desk.logout(context, group: group, service: service, reason: reason)
        }
    }

    /// `Begin`.
    public func beginRefresh(
        _ context: CallContext, _ query: WireDictionary, stale: UInt64, timeoutMicroseconds: UInt64
    ) throws(Refusal) -> Outcome<RefreshStart> {
        try forward(context) { (desk) throws(Refusal) in
            try desk.beginRefresh(context, query, stale: stale, timeoutMicroseconds: timeoutMicroseconds)
        }
    }

    /// `Complete`.
    public func completeRefresh(
        _ context: CallContext, fence: UInt64, _ changes: WireDictionary, _ secret: SharedSecret
    ) throws(Refusal) -> Outcome<UInt64> {
        try forward(context) { (desk) throws(Refusal) in
            try desk.completeRefresh(context, fence: fence, changes, secret)
        }
    }

    /// `Fail`.
    public func failRefresh(
        _ context: CallContext, fence: UInt64, kind: String, message: String
    ) throws(Refusal) -> Outcome<Void> {
        try forward(context) { (desk) throws(Refusal) in
            try desk.failRefresh(context, fence: fence, kind: kind, message: message)
        }
    }

    /// `Subscribe`.
    public func subscribe(_ context: CallContext, groups: [String]) throws(Refusal) -> Outcome<Subscription> {
        try forward(context) { (desk) throws(Refusal) in try desk.subscribe(context, groups: groups) }
    }

    /// `Acknowledge`.
    public func acknowledge(
        _ context: CallContext, group: String, epoch: UInt64
    ) throws(Refusal) -> Outcome<Void> {
        try forward(context) { (desk) throws(Refusal) in
            try desk.acknowledge(context, group: group, epoch: epoch)
        }
    }

    /// `Lock`.
    public func lock(_ context: CallContext) throws(Refusal) -> Outcome<Void> {
        try forward(context) { (desk) throws(Refusal) in try desk.lock(context) }
    }

    /// `Unlock`.
    public func unlock(_ context: CallContext, _ passcode: SharedSecret) throws(Refusal) -> Outcome<Void> {
        try forwardCounted(context, makes: false) { (desk, locks) throws(Refusal) in
            try desk.unlock(context, passcode, since: locks)
        }
    }

    /// `FollowPasscode`.
    public func followPasscode(
        _ context: CallContext, _ passcode: SharedSecret
    ) throws(Refusal) -> Outcome<Void> {
        try forward(context, makes: false) { (desk) throws(Refusal) in
            try desk.followPasscode(context, passcode)
        }
    }

    // With how often the keychain had been locked when the call came: whose call it is may not be known yet.
    private func forwardCounted<Value>(
        _ context: CallContext, makes: Bool = true,
        _ call: @escaping (Desk, Int) throws(Refusal) -> Outcome<Value>
    ) throws(Refusal) -> Outcome<Value> {
        let locks = desks.mapValues(\.vault.locks)
        return try forward(context, makes: makes) { (desk) throws(Refusal) in
            try call(desk, desk.gate.userID.flatMap { locks[$0] } ?? 0)
        }
    }

    /// `Confirm`.
    public func confirm(
        _ context: CallContext, cookie: UInt64, _ passcode: SharedSecret
    ) throws(Refusal) -> Outcome<Void> {
        try forward(context) { (desk) throws(Refusal) in
            try desk.confirm(context, cookie: cookie, passcode)
        }
    }

    /// `SetPasscode`.
    public func setPasscode(
        _ context: CallContext, old: SharedSecret, new: SharedSecret
    ) throws(Refusal) -> Outcome<Void> {
        try forwardCounted(context) { (desk, locks) throws(Refusal) in
            try desk.setPasscode(context, old: old, new: new, since: locks)
        }
    }

    /// `RemovePasscode`.
    public func removePasscode(
        _ context: CallContext, _ passcode: SharedSecret
    ) throws(Refusal) -> Outcome<Void> {
        try forward(context) { (desk) throws(Refusal) in try desk.removePasscode(context, passcode) }
    }

    /// `CreateRecoveryKey`.
    public func createRecoveryKey(
        _ context: CallContext, _ passcode: SharedSecret
    ) throws(Refusal) -> Outcome<SharedSecret> {
        try forward(context) { (desk) throws(Refusal) in try desk.createRecoveryKey(context, passcode) }
    }

    /// `RemoveRecoveryKey`.
    public func removeRecoveryKey(
        _ context: CallContext, _ passcode: SharedSecret
    ) throws(Refusal) -> Outcome<Void> {
        try forward(context) { (desk) throws(Refusal) in try desk.removeRecoveryKey(context, passcode) }
    }

    /// `PreviewRecovery`.
    public func previewRecovery(_ context: CallContext) throws(Refusal) -> Outcome<RecoveryCount> {
        try forward(context) { (desk) throws(Refusal) in try desk.previewRecovery(context) }
    }

    /// `Recover`.
    public func recover(
        _ context: CallContext, _ typed: SharedSecret, passcode: SharedSecret, accepting lost: UInt32
    ) throws(Refusal) -> Outcome<RecoveryCount> {
        try forwardCounted(context) { (desk, locks) throws(Refusal) in
            try desk.recover(context, typed, passcode: passcode, accepting: lost, since: locks)
        }
    }

    /// `ForceLogout`.
    public func forceLogout(
        _ context: CallContext, group: String, service: String, reason: String
    ) throws(Refusal) -> Outcome<LogoutOutcome> {
        try forward(context) { (desk) throws(Refusal) in
            try desk.forceLogout(context, group: group, service: service, reason: reason)
        }
    }

    /// `MoveItems`.
    public func moveItems(
        _ context: CallContext, from: String, to: String
    ) throws(Refusal) -> Outcome<UInt32> {
        try forward(context) { (desk) throws(Refusal) in try desk.moveItems(context, from: from, to: to) }
    }

    /// `ImportItem`.
    public func importItem(
        _ context: CallContext, group: String, mode: String, _ attributes: WireDictionary,
        _ secret: SharedSecret
    ) throws(Refusal) -> Outcome<Imported> {
        try forward(context) { (desk) throws(Refusal) in
            try desk.importItem(context, group: group, mode: mode, attributes, secret)
        }
    }

    /// `ImportSecret`.
    public func importSecret(
        _ context: CallContext, group: String, mode: String, collection: String,
        _ content: SecretItem.Content, _ secret: SharedSecret
    ) throws(Refusal) -> Outcome<Imported> {
        try forward(context) { (desk) throws(Refusal) in
            try desk.importSecret(
                context, group: group, mode: mode, collection: collection, content, secret)
        }
    }

    /// `ListGroups`.
    public func listGroups(_ context: CallContext) throws(Refusal) -> Outcome<[GroupRecord]> {
        try forward(context) { (desk) throws(Refusal) in try desk.listGroups(context) }
    }

    /// `Check`.
    public func check(_ context: CallContext) throws(Refusal) -> Outcome<CheckReport> {
        try forward(context) { (desk) throws(Refusal) in try desk.check(context) }
    }

    /// `Unsubscribe`; no error where there was no subscription.
    public func unsubscribe(_ context: CallContext) throws(Refusal) -> Outcome<Void> {
        guard let caller = reception.peers.known(context.connection), let desk = desks[caller.facts.userID]
        else { return .now(()) }
        return try desk.unsubscribe(context)
    }
}
