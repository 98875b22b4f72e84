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

    /// A process that wanted to refresh a token, and from when to when.
    struct Wait {
        let account: Account
        let begun: UInt64
        var ended: UInt64 = .max
    }

    /// A process that had the right to refresh a token.
    struct Hold {
        let token: Token
        let life: Life
        let granted: UInt64
        /// The run of the broker that granted it.
        let broker: Int
        /// When its holder was done with it, or dead.
        var ended: UInt64 = .max
        /// When the broker could grant it to somebody else at the latest.
        var released: UInt64 = .max
        /// When its holder was killed over it.
        var killed: UInt64?
    }

    let graceMicroseconds: UInt64
    private(set) var rotated: [Token: UInt64] = [:]
    private(set) var lost: [Token: Int] = [:]
    private(set) var stored: [Token: Int] = [:]
    private(set) var waits: [Token: [Wait]] = [:]
    private(set) var holds: [Token: [Hold]] = [:]
    private var held: Set<Token> = []
    private var failures: [Token: UInt64] = [:]
    /// When the broker was away, or might not open the item.
    private(set) var closed: [Account: [Range<UInt64>]] = [:]
    private(set) var problems: [String] = []
    /// Families that the server revoked, by what the revocation came from.
    private(set) var losses: [Cause: [Token]] = [:]
    private(set) var counts: [String: Int] = [:]
    private var expired: Set<Token> = []

    init(graceMicroseconds: UInt64) { self.graceMicroseconds = graceMicroseconds }

    func count(_ what: String) { counts[what, default: 0] += 1 }

    /// How many refreshes were stored.
    var refreshes: Int { stored.values.reduce(0, +) }

    /// How many tokens were refreshed more than once.
    var doubles: Int { stored.values.count { $0 > 1 } }

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
            guard lost[token] != nil, exchange.time > end, stored[token] == nil else {
                return problem("\(token) was used twice though no answer was lost: its family is revoked")
            }
            losses[cause(of: token, until: end), default: []].append(token)
            if couldHaveBeenPassedOn(token, until: end) {
                problem("\(token) was lost with its holder, though somebody waited and could have had it")
            }
        }
    }

    /// A process wants to refresh; `ended` is to be called with the result.
    func began(_ refresh: String, _ account: Account, at time: UInt64) -> (Token, Int)? {
        guard let token = Self.token(refresh) else { return nil }
        waits[token, default: []].append(Wait(account: account, begun: time))
        return (token, waits[token, default: []].count - 1)
    }

    /// It need not wait any more, or cannot.
    func ended(_ wait: (token: Token, index: Int)?, at time: UInt64) {
        guard let wait else { return }
        waits[wait.token]?[wait.index].ended = time
    }

    /// The item may be opened from now on, or may not.
    func serves(_ account: Account, _ isServed: Bool, at time: UInt64) {
        if isServed, let last = closed[account]?.popLast() {
            closed[account]?.append(last.lowerBound..<time)
        } else if !isServed {
            closed[account, default: []].append(time..<UInt64.max)
        }
    }

    /// What the server gave for this one never came to be stored.
    func answerLost(_ refresh: String, _ cause: Cause) {
        guard let token = Self.token(refresh) else { return }
        lost[token, default: 0] += 1
        count("answers lost: \(cause.rawValue)")
    }

    /// The tokens that came for this one are in the store.
    func stored(for refresh: String) {
        guard let token = Self.token(refresh) else { return }
        stored[token, default: 0] += 1
    }

    /// A refresh token as the server writes it, by its place.
    static func token(_ refresh: String) -> Token? {
        let parts = refresh.split(separator: "-")
        guard parts.count == 4, let family = Int(parts[1]), let generation = Int(parts[2]) else { return nil }
        return Token(family: family, generation: generation)
    }
}

// Who has the right to refresh.
extension Ledger {
    func granted(_ refresh: String, _ life: Life, broker: Int, at time: UInt64) {
        guard let token = Self.token(refresh) else { return }
        if let before = holds[token]?.last, before.ended > time {
            problem("\(token) was granted to two at once")
        }
        held.insert(token)
        holds[token, default: []].append(Hold(token: token, life: life, granted: time, broker: broker))
    }

    /// The holder is done with it: stored, or somebody else's.
    func released(_ refresh: String, _ life: Life, at time: UInt64) {
        end(refresh, life, at: time) { $0.released = time }
        if let token = Self.token(refresh) { failures[token] = nil }
    }

    /// The holder gave it back, and the broker may pause. One that could not say so has it until its time is over.
    func failed(_ refresh: String, _ life: Life, isTold: Bool, at time: UInt64) {
        guard let token = Self.token(refresh) else { return }
        let count = failures[token, default: 0]
        failures[token] = count + 1
        let pause = min(Self.pauseMicroseconds << min(count, 6), Self.leaseMicroseconds)
        end(refresh, life, at: time) {
            $0.released = isTold ? time + pause : $0.granted + Self.leaseMicroseconds
        }
    }

    /// A holder is dead. The broker that granted misses it, and another one lets the grant's time run out.
    func killed(_ life: Life, missedBy broker: Int?, at time: UInt64) {
        for token in held {
            for index in holds[token, default: []].indices {
                guard let hold = holds[token]?[index], hold.life === life, hold.ended == .max else {
                    continue
                }
                holds[token]?[index].killed = time
                holds[token]?[index].ended = time
                holds[token]?[index].released =
                    hold.broker == broker ? time : hold.granted + Self.leaseMicroseconds
                held.remove(token)
            }
        }
    }

    private func end(_ refresh: String, _ life: Life, at time: UInt64, _ change: (inout Hold) -> Void) {
        guard let token = Self.token(refresh),
            let index = holds[token]?.lastIndex(where: { $0.life === life && $0.ended == .max }),
            var hold = holds[token]?[index]
        else { return }
        held.remove(token)
        hold.ended = time
        change(&hold)
        holds[token]?[index] = hold
    }

    private static let leaseMicroseconds: UInt64 = 60_000_000
    private static let pauseMicroseconds: UInt64 = 1_000_000
}
