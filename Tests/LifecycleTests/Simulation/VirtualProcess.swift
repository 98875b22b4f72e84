import BrokerDesk
import BrokerModel
import ExampleAuthority
import SDBus
import Sodium

/// A program that wants an access token now and then, by the rules of the client library's `RefreshGate`: read; a token
/// that is good is used; else `Begin` with its revision, and with a grant the server is asked and the answer stored,
/// whatever else happens.
@BrokerActor final class VirtualProcess {
    let life: Life
    let scene: Scene
    private var unstored: [Account: Unstored] = [:]

    /// Renewed so long before its end.
    static let marginMicroseconds: UInt64 = 60_000_000
    private static let roundsMax = 8
    /// How often the server is asked under one lease when no answer comes: it may have rotated already, and a lock or the
    /// broker's end may keep everybody else from asking in the grace time.
    private static let asksMax = 3

    /// What the server gave and the broker did not take yet.
    private struct Unstored {
        let fence: UInt64
        let refresh: String
        let tokens: TokenAuthority.Tokens
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
        for left in unstored.values { scene.ledger.answerLost(left.refresh, .kill, life) }
    }

    // A bad day is asked about again soon.
    private func work(_ account: Account) async {
        for pause in [2.0, 4, 8, 16] where life.isAlive {
            do {
                try await obtain(account)
                return
            } catch .unavailable {
                await scene.time.sleep(UInt64(pause * 1_000_000))
            } catch {
                return
            }
        }
    }

    private enum NoToken: Error {
        case unavailable
        case other
    }

    private func obtain(_ account: Account) async throws(NoToken) {
        do throws(CallFailure) {
            if try await storeUnstored(account) { return }
            var refused: UInt64?
            for _ in 0..<Self.roundsMax {
                let item = try await read(account)
                guard let tokens = HeldTokens(item.secret.secret) else {
                    return scene.ledger.problem("the item's secret is not what was stored")
                }
                let revision = item.attributes.revision
                if revision != refused && !isStale(tokens) {
                    if scene.network.opens(tokens.access) { return }
                    // What the server no longer takes is stale, whatever the clock says.
                    refused = revision
                }
                scene.ledger.expired(tokens.refresh)
                guard try await refresh(account, stale: revision, holding: tokens) else { continue }
                return
            }
        } catch {
            throw error.isPassing ? .unavailable : .other
        }
    }

    private func isStale(_ tokens: HeldTokens) -> Bool {
        tokens.isStale(at: scene.time.wall, marginMicroseconds: Self.marginMicroseconds)
    }

    // True when it is over, false when the item is to be looked at again.
    private func refresh(
        _ account: Account, stale revision: UInt64, holding own: HeldTokens
    ) async throws(CallFailure) -> Bool {
        if scene.switches.refreshesWithoutLease { return try await refreshAlone(account, own) }
        let wait = scene.ledger.began(own.refresh, at: scene.time.monotonic)
        let start: RefreshStart
        do throws(CallFailure) {
            start = try await begin(account, stale: revision)
        } catch {
            scene.ledger.ended(wait, at: scene.time.monotonic, isGranted: false)
            throw error
        }
        scene.ledger.ended(wait, at: scene.time.monotonic, isGranted: start.fence != nil)
        guard let fence = start.fence else { return false }
        guard let latest = HeldTokens(start.item.secret.secret) else {
            scene.ledger.problem("the item's secret is not what was stored")
            return true
        }
        scene.trouble(life, account)
        return try await ask(account, fence, latest.refresh)
    }

    private func ask(_ account: Account, _ fence: UInt64, _ refresh: String) async throws(CallFailure) -> Bool
    {
        for attempt in 1... {
            let reply = await scene.network.refresh(refresh, scene.way(), life)
            if case .tokens(let tokens) = reply {
                unstored[account] = Unstored(fence: fence, refresh: refresh, tokens: tokens)
                return try await storeUnstored(account)
            }
            try life.check()
            if case .refused = reply {
                try await fail(fence, .rejected)
                scene.signInLater(account)
                return true
            }
            if attempt == Self.asksMax { break }
            await scene.time.sleep(UInt64(attempt) * 1_000_000)
            try life.check()
        }
        try await fail(fence, .transient)
        throw .unreachable
    }

    /// True when the tokens that the server gave are stored; false where there are none, or the lease went to somebody.
    private func storeUnstored(_ account: Account) async throws(CallFailure) -> Bool {
        guard let left = unstored[account] else { return false }
        for attempt in 1... {
            try life.check()
            do throws(CallFailure) {
                try await complete(left.fence, left.tokens)
                unstored[account] = nil
                scene.ledger.stored(for: left.refresh)
                if scene.wasReplaced(account, left.refresh) {
                    scene.ledger.problem("a late result won over a sign-in")
                }
                return true
            } catch {
                if error.refusal == .leaseLost || error.refusal == .itemNotFound {
                    unstored[account] = nil
                    if !scene.wasSignedOut(account, left.refresh) {
                        scene.ledger.problem("a lease was lost, and nobody had signed out")
                    }
                    scene.ledger.answerLost(left.refresh, .signOut, life)
                    return false
                }
                guard error.isPassing, attempt < 40 else { throw error }
            }
            await scene.time.sleep(500_000)
        }
        return false
    }
}
