internal import BrokerModel
internal import BrokerVault
internal import SDBus
internal import Sodium

/// One process refreshes an item, the others wait for its result (INTERFACE, Refresh).
@BrokerActor final class Refresher {
    private let vault: Vault
    private let clock: LeaseClock
    private let board = LeaseBoard()
    private let waiters: LeaseWaiters

    init(_ vault: Vault, _ clock: LeaseClock) {
        self.vault = vault
        self.clock = clock
        waiters = LeaseWaiters(clock)
        board.freed = { [waiters] reference in
            // The board is in use when it says so, and only ever here.
            BrokerActor.assumeIsolated { waiters.wake(reference) }
        }
    }

    /// Who asks. What it may is asked anew whenever it went on.
    struct Client {
        let connection: String
        let application: String
        /// Whether the connection is there still.
        let isHere: () -> Bool
        let authorize: Vault.Authorization
    }

    /// Grants the item, or waits for who refreshes it. `Busy` past `deadline`.
    func begin(
        _ client: Client, stale: UInt64, deadline: UInt64, read: () throws(Refusal) -> ItemWithSecret
    ) async throws(Refusal) -> RefreshStart {
        while true {
            let item = try read()
            let reference = item.attributes.reference
            if item.attributes.revision != stale { return RefreshStart(fence: nil, item: item) }
            let now = clock.now()
            switch board.claim(reference, now: now) {
            case .yours:
                guard let fence = try await grant(item.attributes, client) else { continue }
                if let start = try confirm(fence, reference, stale, read) { return start }
            case .wait(let until):
                guard deadline > now else { throw .refreshBusy }
                await waiters.wait(for: reference, client.connection, until: min(until, deadline))
                guard client.isHere() else { throw .refreshBusy }
            }
        }
    }

    // Nil where the item has changed, or an earlier broker's grant is open.
    private func grant(_ item: ItemAttributes, _ client: Client) async throws(Refusal) -> UInt64? {
        let now = clock.now()
        let terms = RefreshTerms(
            application: client.application, boot: clock.boot, now: now,
            deadline: now + LeaseBoard.leaseMicroseconds)
        let outcome: RefreshGrant
        do throws(Refusal) {
            outcome = try await vault.grantRefresh(
                client.authorize, of: item.reference, at: item.revision, terms)
        } catch {
            board.release(item.reference)
            throw error
        }
        switch outcome {
        case .changed: board.release(item.reference)
        case .blocked(let until): board.release(item.reference, closedUntil: until)
        case .granted(let fence):
            let lease = LeaseBoard.Lease(
                fence: fence, reference: item.reference, connection: client.connection,
                application: client.application, service: item.service, deadline: terms.deadline)
            guard client.isHere() else {
                board.release(item.reference)
                end(lease)
                throw .refreshBusy
            }
            board.granted(lease)
            return fence
        }
        return nil
    }

    // While the grant was being written a lock may have come, or a change: then this holder has nothing to refresh.
    private func confirm(
        _ fence: UInt64, _ reference: Reference, _ stale: UInt64, _ read: () throws(Refusal) -> ItemWithSecret
    ) throws(Refusal) -> RefreshStart? {
        do throws(Refusal) {
            let item = try read()
            if item.attributes.reference == reference && item.attributes.revision == stale {
                return RefreshStart(fence: fence, item: item)
            }
            giveBack(fence)
            return nil
        } catch {
            giveBack(fence)
            throw error
        }
    }

    private func giveBack(_ fence: UInt64) {
        guard let lease = board.lease(of: fence) else { return }
        board.end(lease.reference)
        end(lease)
    }

    // A grant that stays open in the store holds up nobody but after a restart, so this may fail.
    private func end(_ lease: LeaseBoard.Lease) {
        BrokerActor.start { [vault] in
            do throws(Refusal) {
                try await vault.endRefresh(fence: lease.fence, by: lease.application)
            } catch {
                return
            }
        }
    }

    /// Stores the result and answers all who wait. A commit that fails keeps the lease. `LeaseLost`.
    func complete(
        _ client: Client, fence: UInt64, _ changes: Changes, _ secret: SharedSecret
    ) async throws(Refusal) -> UInt64 {
        try checkOwner(of: fence, client)
        let completion = try await vault.completeRefresh(
            client.authorize, fence: fence, by: client.application, changes, secret)
        board.end(completion.reference)
        return completion.revision
    }

    /// Gives the right back, with a pause for the next, or deletes the item. `LeaseLost`.
    func fail(_ client: Client, fence: UInt64, _ failure: RefreshFailure) async throws(Refusal) {
        try checkOwner(of: fence, client)
        switch failure {
        case .transient:
            let reference = try await vault.endRefresh(
                client.authorize, fence: fence, by: client.application)
            board.failed(fence, reference, now: clock.now(), chance: clock.chance())
        case .rejected:
            try await vault.rejectRefresh(
                client.authorize, fence: fence, by: client.application,
                service: board.lease(of: fence)?.service)
        }
    }

    // A fence belongs to its connection; of an earlier broker's it is not known which that was.
    private func checkOwner(of fence: UInt64, _ client: Client) throws(Refusal) {
        let isOwn =
            if let lease = board.lease(of: fence) {
                lease.connection == client.connection
            } else {
                vault.isInherited(fence: fence)
            }
        guard isOwn else { throw .leaseLost }
    }

    /// The connection is gone: its leases end, and it waits for nothing.
    func forget(_ connection: String) {
        for lease in board.forget(connection) { end(lease) }
        waiters.wake(of: connection)
    }

    /// Whoever changed the item wins over who refreshes what it was.
    func note(_ notice: Notice) {
        switch notice {
        case .itemChanged(_, let reference, _, _, _, _): board.end(reference)
        // A logout is told of as a whole, and not item by item.
        case .loggedOut: waiters.wakeAll()
        case .lockStateChanged, .refreshNeeded: break
        }
    }
}
