import ExampleAuthority
import SDBus

/// What happened, as the simulation itself saw it; the server's own log is held against it.
@BrokerActor final class Ledger {
    /// A refresh token by its place: which sign-in it comes from, and the how manieth it is.
    struct Token: Hashable, Comparable, CustomStringConvertible {
        let family: Int
        let generation: Int

        static func < (left: Self, right: Self) -> Bool {
            (left.family, left.generation) < (right.family, right.generation)
        }

        var description: String { "\(family).\(generation)" }
    }

    /// Why the answer to a refresh never came to be stored.
    enum Cause: String {
        case kill
        case network
        case signOut
    }

    private struct Lost {
        let cause: Cause
        let life: Life
    }

    /// A process that wanted to refresh a token, and from when to when.
    private struct Wait {
        let begun: UInt64
        var ended: UInt64 = .max
    }

    private let graceMicroseconds: UInt64
    private var rotated: [Token: UInt64] = [:]
    private var lost: [Token: [Lost]] = [:]
    private var stored: [Token: Int] = [:]
    private var granted: [Token: UInt64] = [:]
    private var waits: [Token: [Wait]] = [:]
    private var disturbances: [UInt64] = []
    private(set) var problems: [String] = []
    /// Families that the server revoked, by what the revocation came from.
    private(set) var losses: [Cause: [Token]] = [:]
    private(set) var counts: [String: Int] = [:]
    private var expired: Set<Token> = []

    init(graceMicroseconds: UInt64) { self.graceMicroseconds = graceMicroseconds }

    func count(_ what: String) { counts[what, default: 0] += 1 }

    /// How many refreshes were stored.
    var refreshes: Int { stored.values.reduce(0, +) }

    func problem(_ text: String) { problems.append(text) }

    /// A process found the tokens near their end, or refused by the mail server.
    func expired(_ refresh: String) {
        if let token = Self.token(refresh) { expired.insert(token) }
    }

    /// The server was shown a token. One that takes its family away must be one whose answer was lost, and it must be
    /// past the grace time.
    func note(_ exchange: TokenAuthority.Exchange) {
        let token = Token(family: exchange.family, generation: exchange.generation)
        switch exchange.outcome {
        case .rotated:
            rotated[token] = exchange.time
            if !expired.contains(token) { problem("\(token) was refreshed and had not expired") }
        case .repeated, .dead: break
        case .reused:
            let end = (rotated[token] ?? 0) + graceMicroseconds
            guard let lost = lost[token], exchange.time > end, stored[token] == nil else {
                return problem("\(token) was used twice though no answer was lost: its family is revoked")
            }
            // Whoever lost an answer on the way would have asked again, had it lived.
            let killed = lost.compactMap(\.life.killed).filter { $0 <= end }.max()
            losses[killed == nil ? .network : .kill, default: []].append(token)
            if let killed, couldHaveBeenPassedOn(token, killed, end) {
                problem("\(token) was lost with its holder, though somebody waited for it all the time")
            }
        }
    }

    // The broker cannot pass on what it cannot know to be free (it ended meanwhile) or may not read (a lock).
    private func couldHaveBeenPassedOn(_ token: Token, _ killed: UInt64, _ end: UInt64) -> Bool {
        let granted = granted[token] ?? 0
        guard !disturbances.contains(where: { $0 >= granted && $0 <= end }) else { return false }
        return waits[token, default: []].contains { wait in
            let (from, to) = (max(wait.begun, killed), min(wait.ended, end))
            return to >= from + Self.passingOnMicroseconds
        }
    }

    private static let passingOnMicroseconds: UInt64 = 5_000_000

    /// The broker ended, or the device was locked.
    func disturbed(at time: UInt64) { disturbances.append(time) }

    /// A process wants to refresh; `ended` is to be called with the result.
    func began(_ refresh: String, at time: UInt64) -> (Token, Int)? {
        guard let token = Self.token(refresh) else { return nil }
        waits[token, default: []].append(Wait(begun: time))
        return (token, waits[token, default: []].count - 1)
    }

    /// It need not wait any more, or cannot.
    func ended(_ wait: (token: Token, index: Int)?, at time: UInt64, isGranted: Bool) {
        guard let wait else { return }
        waits[wait.token]?[wait.index].ended = time
        if isGranted { granted[wait.token] = time }
    }

    /// What the server gave for this one never came to be stored.
    func answerLost(_ refresh: String, _ cause: Cause, _ life: Life) {
        guard let token = Self.token(refresh) else { return }
        lost[token, default: []].append(Lost(cause: cause, life: life))
        count("answers lost: \(cause.rawValue)")
    }

    /// The tokens that came for this one are in the store.
    func stored(for refresh: String) {
        guard let token = Self.token(refresh) else { return }
        stored[token, default: 0] += 1
    }

    /// Holds the server's log against what was seen.
    func close(_ authority: TokenAuthority) {
        var shown: [Token: Int] = [:]
        for exchange in authority.exchanges where exchange.outcome != .dead {
            shown[Token(family: exchange.family, generation: exchange.generation), default: 0] += 1
        }
        for (token, times) in shown.sorted(by: { $0.key < $1.key }) {
            let answersLost = lost[token]?.count ?? 0
            let isRevoking = losses.values.contains { $0.contains(token) }
            // Each presentation but the one that was stored, or that revoked, has an answer that was lost.
            let wanted = answersLost + (isRevoking ? 1 : stored[token] ?? 0)
            if times != wanted {
                problem("\(token) was shown to the server \(times) times, not \(wanted)")
            }
            if stored[token] ?? 0 > 1 { problem("\(token) was refreshed twice") }
        }
        let revoked = losses.values.reduce(0) { $0 + $1.count }
        if authority.revokedCount != revoked {
            problem("\(authority.revokedCount) families are revoked, not \(revoked)")
        }
    }

    /// A refresh token as the server writes it, by its place.
    static func token(_ refresh: String) -> Token? {
        let parts = refresh.split(separator: "-")
        guard parts.count == 4, let family = Int(parts[1]), let generation = Int(parts[2]) else { return nil }
        return Token(family: family, generation: generation)
    }
}
