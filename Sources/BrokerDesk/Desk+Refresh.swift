internal import BrokerGate
public import BrokerModel
internal import BrokerPeers
internal import BrokerVault
internal import SDBus
public import Sodium

extension Desk {
    /// `Begin`.
    public func beginRefresh(
        _ context: CallContext, _ query: WireDictionary, stale: UInt64, timeoutMicroseconds: UInt64
    ) throws(Refusal) -> Outcome<RefreshStart> {
        try withCaller(context) { (caller) throws(Refusal) in
            try self.gate.admit(caller, [.refresh], naming: query.namedGroup)
            let query = try Query(query, for: .read)
            return try self.asking(caller, context, to: .refresh) { (proofs, again) throws(Refusal) in
                try self.beginRefresh(caller, query, proofs, again, stale, timeoutMicroseconds)
            }
        }
    }

    private func beginRefresh(
        _ caller: Caller, _ query: Query, _ proofs: Proofs, _ again: Bool, _ stale: UInt64,
        _ timeoutMicroseconds: UInt64
    ) throws(Refusal) -> Outcome<RefreshStart> {
        let item = try refreshable(caller, query, proofs, again: again)
        if item.attributes.revision != stale {
            gate.recordRead(caller, .refresh, item.attributes.accessGroup)
            return .now(RefreshStart(fence: nil, item: item))
        }
        let (sum, overflows) = leaseClock.now().addingReportingOverflow(timeoutMicroseconds)
        let client = client(caller, query.accessGroup)
        return try waiting(caller, bytes: 0) { () async throws(Refusal) in
            let start = try await self.refresher.begin(
                client, stale: stale, deadline: overflows ? .max : sum
            ) { () throws(Refusal) in
                try self.refreshable(caller, query, proofs, again: true)
            }
            self.gate.recordRead(caller, .refresh, start.item.attributes.accessGroup)
            return start
        }
    }

    private func refreshable(
        _ caller: Caller, _ query: Query, _ proofs: Proofs, again: Bool
    ) throws(Refusal) -> ItemWithSecret {
        defer { leaveUpkeep() }
        let item = try vault.read(
            gate.grant(caller, [.refresh], in: query.accessGroup, again: again), query, proofs)
        guard !item.needsApplicationPassword else {
            throw .param("An item with an application password is renewed by Update, by who knows it.")
        }
        return item
    }

    private func client(_ caller: Caller, _ group: AccessGroup?) -> Refresher.Client {
        Refresher.Client(
            connection: caller.connection, application: gate.applicationName(of: caller),
            isHere: { self.peers.known(caller.connection) != nil },
            authorize: { () throws(Refusal) in
                try self.gate.grant(caller, [.refresh], in: group, again: true)
            })
    }

    /// `Complete`.
    public func completeRefresh(
        _ context: CallContext, fence: UInt64, _ changes: WireDictionary, _ secret: SharedSecret
    ) throws(Refusal) -> Outcome<UInt64> {
        try withCaller(context) { (caller) throws(Refusal) in
            _ = try self.gate.grant(caller, [.refresh], in: nil)
            let changes = try Changes(changes, now: self.outlet.now())
            let bytes = secret.secret.count + changes.attributes.byteCount
            return try self.waiting(caller, bytes: bytes) { () async throws(Refusal) in
                let revision = try await self.refresher.complete(
                    self.client(caller, nil), fence: fence, changes, secret)
                self.leaveUpkeep(expires: changes.expires)
                return revision
            }
        }
    }

    /// `Fail`. The message is kept nowhere: nobody can know what a program puts into it.
    public func failRefresh(
        _ context: CallContext, fence: UInt64, kind: String, message: String
    ) throws(Refusal) -> Outcome<Void> {
        try withCaller(context) { (caller) throws(Refusal) in
            _ = try self.gate.grant(caller, [.refresh], in: nil)
            guard let failure = RefreshFailure(rawValue: kind) else {
                throw .param("A refresh fails as 'transient' or as 'rejected'.")
            }
            guard message.utf8.count <= Limits.logoutReasonBytesMax else {
                throw Refusal(.tooLarge, "A message has 1 KiB at most.")
            }
            return try self.waiting(caller, bytes: 0) { () async throws(Refusal) in
                defer { self.leaveUpkeep() }
                try await self.refresher.fail(self.client(caller, nil), fence: fence, failure)
            }
        }
    }
}
