internal import BrokerModel
internal import SDBus

extension RefreshGate {
    /// The right to ask the token server, and the connection that it was granted to. With that it ends, so it is kept open.
    struct Lease {
        let fence: UInt64
        let broker: Broker
    }

    /// New tokens that belong under a lease.
    struct Unstored {
        let lease: Lease
        let tokens: SessionTokens
    }

    private static let attemptsMax = 6
    private static let firstPauseMicroseconds: UInt64 = 50_000

    /// Stores what the token server gave. The refresh token that it was got with is spent, so what the broker cannot take
    /// now is kept and offered again with the same fence before anything else is done.
    ///
    /// Nil when there is nothing to store, or when the lease went to somebody else: the item says what holds then.
    func storeUnstored() async throws(RefreshError) -> AccessToken? {
        guard let unstored else { return nil }
        var pause = Self.firstPauseMicroseconds
        for attempt in 1... {
            do throws(VaultError) {
                let revision = try await complete(unstored)
                self.unstored = nil
                return AccessToken(unstored.tokens, revision: revision)
            } catch {
                switch error.wire.kind {
                case .leaseLost:
                    self.unstored = nil
                    return nil
                case .itemNotFound:
                    self.unstored = nil
                    throw .signInNeeded
                default:
                    // Without a kind the broker was not there to say anything.
                    let mayPass = error.wire.kind == .io || error.wire.kind == nil
                    guard mayPass && attempt < Self.attemptsMax else { throw .notStored(error) }
                }
            }
            // Its task is never cancelled.
            try? await BrokerActor.shared.loop.sleep(microseconds: pause)
            pause *= 2
        }
        return nil
    }

    private func complete(_ unstored: Unstored) async throws(VaultError) -> UInt64 {
        let fence = unstored.lease.fence
        let (changes, secret) = (unstored.tokens.attributes(at: clock()), unstored.tokens.encoded())
        return try await link.call(on: unstored.lease.broker) { (broker) throws(ChatelaineError) in
            try await broker.completeRefresh(fence, changes, secret)
        }
    }
}
