public import SDBus
public import Sodium

/// The one place where a program gets its access token from.
///
/// A token that is not near its end is returned as it is. Else the token server is asked for a new one, once: other
/// callers of this process wait for the same answer, and other processes for the broker to say that it is stored. What
/// the gate hands out is never remembered here: a logout or a lock reaches the next call.
@BrokerActor public final class RefreshGate {
    /// Asks the token server for new tokens with the refresh token. It throws ``TokenServerError`` where the server was
    /// reached, so that a dead grant is told from a bad day; whatever else it throws counts as a bad day.
    public typealias Exchange = @concurrent @Sendable (SharedSecret) async throws -> TokenResponse

    let query: Attributes
    let exchange: Exchange
    let leeway: Duration
    let patience: Duration
    let pauses: [Duration]
    let clock: @Sendable () -> UInt64
    let link: BrokerLink
    private var flight: RefreshFlight?
    /// What the token server gave and the broker did not take yet.
    var unstored: Unstored?

    /// Makes a gate for the tokens of a vault's account.
    /// - Parameters:
    ///   - leeway: how long before its end a token is renewed, and at most half of its life.
    ///   - patience: how long another process's refresh is waited for, before ``RefreshError/busy``.
    ///   - pauses: before each further try when no answer came: the server may have rotated the refresh token all the same,
    ///     and takes the old one again for a while.
    ///   - clock: the wall clock, in microseconds since the Unix epoch.
    ///   - exchange: asks the token server. It runs off the broker's loop.
    public nonisolated convenience init(
        _ vault: CredentialVault, account: String, leeway: Duration = .seconds(60),
        patience: Duration = .seconds(60), pauses: [Duration] = [.seconds(1), .seconds(2)],
        clock: @escaping @Sendable () -> UInt64 = { EventClock.realtime.now },
        exchange: @escaping Exchange
    ) {
        self.init(
            vault.query(account), vault.link, leeway: leeway, patience: patience, pauses: pauses,
            clock: clock,
            exchange: exchange)
    }

    /// The same for the one item that a query finds, in whatever group and of whatever attributes.
    public nonisolated convenience init(
        _ query: Attributes, at endpoint: Endpoint = .user, leeway: Duration = .seconds(60),
        patience: Duration = .seconds(60), pauses: [Duration] = [.seconds(1), .seconds(2)],
        clock: @escaping @Sendable () -> UInt64 = { EventClock.realtime.now },
        exchange: @escaping Exchange
    ) {
        self.init(
            query, BrokerLink(endpoint), leeway: leeway, patience: patience, pauses: pauses, clock: clock,
            exchange: exchange)
    }

    private nonisolated init(
        _ query: Attributes, _ link: BrokerLink, leeway: Duration, patience: Duration, pauses: [Duration],
        clock: @escaping @Sendable () -> UInt64, exchange: @escaping Exchange
    ) {
        self.query = query
        self.link = link
        self.leeway = leeway
        self.patience = patience
        self.pauses = pauses
        self.clock = clock
        self.exchange = exchange
    }

    /// An access token that is good for longer than the leeway, or that was got just now.
    ///
    /// It throws ``RefreshError``; and `CancellationError` when the caller's task is cancelled, while the refresh goes on
    /// for everybody else.
    /// - Parameter refused: a token of this gate that a service answered with HTTP 401, though it should be good. The next
    ///   one has another revision: somebody else's, where there is one already, and nothing that they stored is touched.
    public func validAccessToken(insteadOf refused: AccessToken? = nil) async throws -> AccessToken {
        while true {
            let flight = flight ?? start(insteadOf: refused?.revision)
            let token = try await flight.landing()
            // It may have begun for callers to whom that token was as good as any.
            if token.revision != refused?.revision { return token }
        }
    }

    private func start(insteadOf refused: UInt64?) -> RefreshFlight {
        let flight = RefreshFlight()
        self.flight = flight
        // Nobody's child: what the token server gave must be stored, whoever still wants it. And bare: a task that prefers
        // the loop would have the exchange run there.
        Task {
            let outcome: Result<AccessToken, RefreshError>
            do throws(RefreshError) {
                outcome = .success(try await obtain(insteadOf: refused))
            } catch {
                outcome = .failure(error)
            }
            self.flight = nil
            flight.land(outcome)
        }
        return flight
    }

    /// Calls the broker, maybe on another connection than before. Only for what may be said twice.
    func ask<Value>(
        _ body: @BrokerActor (Broker) async throws(ChatelaineError) -> Value
    ) async throws(RefreshError) -> Value {
        do throws(VaultError) {
            return try await link.call(body)
        } catch {
            throw RefreshError(error)
        }
    }
}
