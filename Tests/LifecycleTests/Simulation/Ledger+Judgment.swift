import ExampleAuthority
import SDBus

extension Ledger {
    /// Calls go by in no time of the simulation: whoever waits a whole second for what is free was forgotten.
    private static let passingOnMicroseconds: UInt64 = 1_000_000
    /// A request and its answer are on their way for so long at most.
    private static let wayMicroseconds: UInt64 = 3_000_000

    /// What took the token: a holder that was killed over it while it was good, or else the network.
    func cause(of token: Token, until end: UInt64) -> Cause {
        holds[token, default: []].contains { ($0.killed ?? .max) <= end } ? .kill : .network
    }

    /// Whether somebody waited for it, after its first holder was killed and while it was good, at a time when nobody
    /// had it and the broker was there and might open the item.
    func couldHaveBeenPassedOn(_ token: Token, until end: UInt64) -> Bool {
        let holds = holds[token, default: []]
        guard let killed = holds.compactMap(\.killed).min(), killed < end,
            let account = waits[token]?.first?.account
        else { return false }
        var free = Spans([killed..<end])
        for hold in holds { free = free.without(hold.granted..<hold.released) }
        for closed in closed[account, default: []] { free = free.without(closed) }
        return waits[token, default: []].contains {
            free.longest(in: $0.begun..<$0.ended) >= Self.passingOnMicroseconds
        }
    }

    /// Holds the server's log against what was seen.
    func close(_ authority: TokenAuthority, at now: UInt64) {
        var shown: [Token: Int] = [:]
        for exchange in authority.exchanges where exchange.outcome != .dead {
            shown[Token(family: exchange.family, generation: exchange.generation), default: 0] += 1
        }
        for (token, times) in shown.sorted(by: { $0.key < $1.key }) {
            let isRevoking = losses.values.contains { $0.contains(token) }
            // Each presentation but the one that was stored, or that revoked, has an answer that was lost.
            let wanted = lost[token, default: 0] + (isRevoking ? 1 : stored[token] ?? 0)
            let underway = holds[token, default: []].contains { $0.ended > now - Self.wayMicroseconds }
            if times != wanted && !(underway && times == wanted + 1) {
                problem("\(token) was shown to the server \(times) times, not \(wanted)")
            }
            if stored[token] ?? 0 > 1 { problem("\(token) was refreshed twice") }
        }
        let revoked = losses.values.reduce(0) { $0 + $1.count }
        if authority.revokedCount != revoked {
            problem("\(authority.revokedCount) families are revoked, not \(revoked)")
        }
    }
}
