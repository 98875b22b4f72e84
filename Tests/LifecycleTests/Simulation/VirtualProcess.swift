import BrokerDesk
import BrokerModel
import Chatelaine
import ExampleAuthority
import SDBus
import Sodium

/// A program that wants an access token now and then. It does step by step what the client library's `RefreshGate` does,
/// with that one's tokens, numbers and errors, on the simulation's clock: read; a token that is good is used; else
/// `Begin` with its revision, and with a grant the server is asked and the answer stored, whatever else happens.
@BrokerActor final class VirtualProcess {
    let life: Life
    let scene: Scene
    var unstored: [Account: Unstored] = [:]

    /// Renewed so long before its end.
    private static let leeway = Duration.seconds(60)
    /// How long somebody else's refresh is waited for.
    static let patienceMicroseconds: UInt64 = 60_000_000
    private static let roundsMax = 8
    /// Before each further try when no answer came.
    private static let pauses: [UInt64] = [1_000_000, 2_000_000]
    /// A try that begins later than that might come to its answer after the lease.
    private static let askingAgainMicroseconds: UInt64 = 20_000_000

    /// What the server gave and the broker did not take yet.
    struct Unstored {
        let fence: UInt64
        let spent: String
        let tokens: SessionTokens
    }

    /// A token, and the revision of the item that it comes from.
    struct Token {
        let access: String
        let revision: UInt64

        init(_ tokens: SessionTokens, _ revision: UInt64) {
            access = tokens.access
            self.revision = revision
        }
    }

    init(_ life: Life, _ scene: Scene) {
        self.life = life
        self.scene = scene
    }

    /// Goes about its work until it is killed.
    func run() async {
        while life.isAlive {
            await scene.time.sleep(scene.untilNextUse())
            for account in life.program.accounts where life.isAlive { await work(account) }
        }
        // What is on its way from the server gets there, and nobody is there to store it.
        for left in unstored.values { scene.ledger.answerLost(left.spent, .kill) }
    }

    // A bad day is asked about again soon.
    private func work(_ account: Account) async {
        for pause in [2.0, 4, 8, 16] where life.isAlive {
            do throws(CallFailure) {
                let token = try await obtain(account, insteadOf: nil)
                if scene.network.opens(token.access) { return }
                // What the server no longer takes is stale, whatever the clock says.
                let next = try await obtain(account, insteadOf: token.revision)
                if !scene.network.opens(next.access) {
                    scene.ledger.problem("a token in place of one that was refused is refused too")
                }
                return
            } catch {
                guard error.isPassing else { return }
                await scene.time.sleep(UInt64(pause * 1_000_000))
            }
        }
    }

    private func obtain(_ account: Account, insteadOf refused: UInt64?) async throws(CallFailure) -> Token {
        // When it was got is long ago, maybe: it is judged as it is stored.
        _ = try await storeUnstored(account)
        var item = try await read(account)
        for _ in 0..<Self.roundsMax {
            let tokens = try contents(item)
            let revision = item.attributes.revision
            if revision != refused && tokens.isFresh(at: scene.time.wall, leeway: Self.leeway) {
                return Token(tokens, revision)
            }
            scene.ledger.expired(tokens.refresh)
            if scene.switches.refreshesWithoutLease { return try await refreshAlone(account, tokens) }
            let start = try await begin(account, stale: revision, tokens.refresh)
            guard let fence = start.fence else {
                item = start.item
                let newer = try contents(item)
                // Somebody renewed it just now, as well as it can be done.
                if item.attributes.revision != refused && newer.isFresh(at: scene.time.wall, leeway: .zero) {
                    return Token(newer, item.attributes.revision)
                }
                continue
            }
            scene.trouble(life, account)
            if let token = try await refresh(account, fence, contents(start.item)) { return token }
            item = try await read(account)
        }
        scene.ledger.problem("no token of '\(account)' in \(Self.roundsMax) rounds")
        throw .unreachable
    }

    // Under the lease; nil when it went to somebody else meanwhile.
    private func refresh(
        _ account: Account, _ fence: UInt64, _ own: SessionTokens
    ) async throws(CallFailure) -> Token? {
        let asked = scene.time.wall
        let reply = await answer(to: own.refresh)
        if case .tokens(let answer) = reply {
            let tokens = SessionTokens(
                answer, replacing: own, lifeMicroseconds: scene.network.rules.accessMicroseconds, asked: asked
            )
            unstored[account] = Unstored(fence: fence, spent: own.refresh, tokens: tokens)
            return try await storeUnstored(account)
        }
        try life.check()
        if case .refused = reply { return try await giveUp(account, fence, own.refresh, .rejected) }
        return try await giveUp(account, fence, own.refresh, .transient)
    }

    private func answer(to refresh: String) async -> Network.Reply {
        let latest = scene.time.monotonic + Self.askingAgainMicroseconds
        for pause in Self.pauses {
            let reply = await scene.network.refresh(refresh, scene.way(), life)
            guard case .silence = reply, life.isAlive, scene.time.monotonic < latest else { return reply }
            await scene.time.sleep(pause)
            guard life.isAlive else { return .silence }
        }
        return await scene.network.refresh(refresh, scene.way(), life)
    }

    private func contents(_ item: ItemWithSecret) throws(CallFailure) -> SessionTokens {
        do throws(ChatelaineError) {
            return try SessionTokens(encoded: item.secret)
        } catch {
            scene.ledger.problem("the item's secret is not what was stored")
            throw .unreachable
        }
    }
}
