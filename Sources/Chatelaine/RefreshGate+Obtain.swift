internal import BrokerModel
internal import SDBus

extension RefreshGate {
    /// Times that the item may turn out to be another than the one that was just read.
    private static let roundsMax = 8
    /// A try that begins later than that might come to its answer after the lease.
    private static let askingAgainMicroseconds: UInt64 = 20_000_000

    /// One caller's whole way to a token, which others join.
    func obtain(insteadOf refused: UInt64?) async throws(RefreshError) -> AccessToken {
        let query = query
        // When it was got is long ago, maybe: it is judged as it is stored.
        _ = try await storeUnstored()
        var item = try await ask { (broker) throws(ChatelaineError) in try await broker.read(query) }
        for _ in 0..<Self.roundsMax {
            let (tokens, revision) = try contents(item)
            if revision != refused && tokens.isFresh(at: clock(), leeway: leeway) {
                return AccessToken(tokens, revision: revision)
            }
            guard tokens.refreshToken != nil else { throw .signInNeeded }
            let (start, broker) = try await begin(stale: revision)
            switch start {
            case .current(let newer):
                item = newer
                let (tokens, revision) = try contents(newer)
                // Somebody renewed it just now, as well as it can be done.
                if revision != refused && tokens.isFresh(at: clock(), leeway: .zero) {
                    return AccessToken(tokens, revision: revision)
                }
            case .granted(let fence, let latest):
                let lease = Lease(fence: fence, broker: broker)
                if let token = try await refresh(lease, latest) { return token }
                item = try await ask { (broker) throws(ChatelaineError) in try await broker.read(query) }
            }
        }
        throw .busy
    }

    private func begin(
        stale revision: UInt64
    ) async throws(RefreshError) -> (Broker.RefreshStart, on: Broker) {
        let (query, patience) = (query, patience)
        return try await ask { (broker) throws(ChatelaineError) in
            let start = try await broker.beginRefresh(
                query, stale: revision, timeoutMicroseconds: patience.microseconds)
            return (start, on: broker)
        }
    }

    /// Asks the token server under the lease; nil when the lease went to somebody else meanwhile.
    private func refresh(_ lease: Lease, _ item: Broker.Item) async throws(RefreshError) -> AccessToken? {
        let (tokens, _) = try contents(item)
        guard let refreshToken = tokens.refreshToken else { throw .signInNeeded }
        let asked = clock()
        let response: TokenResponse
        do {
            response = try await answer(to: refreshToken)
        } catch {
            return try await giveUp(lease, error)
        }
        unstored = Unstored(
            lease: lease, tokens: SessionTokens(response, replacing: tokens, asked: asked))
        return try await storeUnstored()
    }

    // Under the one lease: whoever else asked would show the server the same token, and later.
    private func answer(to refreshToken: SharedSecret) async throws -> TokenResponse {
        let latest = EventClock.monotonic.now + Self.askingAgainMicroseconds
        for pause in pauses {
            do {
                return try await exchange(refreshToken)
            } catch {
                if case TokenServerError.refused = error { throw error }
                guard EventClock.monotonic.now < latest else { throw error }
            }
            try? await BrokerActor.shared.loop.sleep(microseconds: pause.microseconds)
        }
        return try await exchange(refreshToken)
    }

    /// Gives the lease back, with what it came to nothing by; nil when it was somebody else's already.
    private func giveUp(_ lease: Lease, _ error: any Error) async throws(RefreshError) -> AccessToken? {
        let known = error as? TokenServerError
        let isRejection = known?.isRejection ?? false
        do throws(VaultError) {
            try await link.call(on: lease.broker) { (broker) throws(ChatelaineError) in
                try await broker.failRefresh(
                    lease.fence, isRejection ? .rejected : .transient,
                    message: known?.description ?? "no answer")
            }
        } catch {
            // A sign-in or another's refresh came first. The grant that is dead is not what is stored now.
            if isRejection && error.wire.kind == .leaseLost { return nil }
        }
        throw isRejection ? .signInNeeded : .unavailable(error)
    }

    private func contents(_ item: Broker.Item) throws(RefreshError) -> (SessionTokens, revision: UInt64) {
        guard case .counter(let revision) = item.attributes["Revision"] else {
            throw .vault(.invalid(ChatelaineError(.param("The broker's reply has no revision."))))
        }
        do throws(ChatelaineError) {
            return (try SessionTokens(encoded: item.secret), revision)
        } catch {
            throw .vault(VaultError(error))
        }
    }
}
