import BrokerModel
import SDBus

extension VirtualProcess {
    private static let attemptsMax = 6
    private static let firstPauseMicroseconds: UInt64 = 50_000

    /// Stores what the server gave, as the library's gate does; nil when there is nothing to store, or when the lease went
    /// to somebody else.
    func storeUnstored(_ account: Account) async throws(CallFailure) -> Token? {
        guard let left = unstored[account] else { return nil }
        var pause = Self.firstPauseMicroseconds
        for attempt in 1... {
            try life.check()
            do throws(CallFailure) {
                let revision = try await complete(left)
                stored(account, left)
                return Token(left.tokens, revision)
            } catch {
                switch error.refusal {
                case .leaseLost, .itemNotFound:
                    unstored[account] = nil
                    lost(account, left)
                    if error.refusal == .itemNotFound { throw error }
                    return nil
                case nil: guard attempt < Self.attemptsMax else { throw error }
                default:
                    scene.judge(error, account, "what the server gave")
                    throw error
                }
            }
            await scene.time.sleep(pause)
            pause *= 2
        }
        return nil
    }

    private func stored(_ account: Account, _ left: Unstored) {
        unstored[account] = nil
        scene.ledger.stored(for: left.spent)
        scene.ledger.released(left.spent, life, at: scene.time.monotonic)
        if scene.wasReplaced(account, left.spent) {
            scene.ledger.problem("a late result won over a sign-in")
        }
    }

    private func lost(_ account: Account, _ left: Unstored) {
        scene.ledger.answerLost(left.spent, .signOut)
        scene.ledger.released(left.spent, life, at: scene.time.monotonic)
        if !scene.wasSignedOut(account, left.spent) {
            scene.ledger.problem("a lease was lost, and nobody had signed out")
        }
    }

    /// Gives the lease back; nil when it was somebody else's already.
    func giveUp(
        _ account: Account, _ fence: UInt64, _ spent: String, _ failure: RefreshFailure
    ) async throws(CallFailure) -> Token? {
        if failure == .rejected { scene.absent.insert(account) }
        var isTold = true
        do throws(CallFailure) {
            try await fail(fence, failure)
        } catch {
            isTold = error.refusal != nil
            if let refusal = error.refusal {
                guard refusal == .leaseLost, scene.wasSignedOut(account, spent) else {
                    scene.ledger.problem("a refresh could not be given back: \(refusal.rawValue)")
                    throw error
                }
                scene.ledger.released(spent, life, at: scene.time.monotonic)
                if failure == .rejected { return nil }
            }
        }
        scene.ledger.failed(spent, life, isTold: isTold, at: scene.time.monotonic)
        try life.check()
        if failure == .rejected {
            scene.signInLater(account)
            throw .signInNeeded
        }
        throw .unreachable
    }
}
