/// The rules of an authorization server that rotates refresh tokens: each is good for one refresh, and one that is
/// used a second time takes its whole family away, since one of the two who used it must have stolen it (RFC 9700,
/// section 4.14.2).
///
/// The token that was current before is answered for a grace time more, with the current one again, so that whoever
/// lost an answer on the way can ask once more. The time is handed in: the server that runs these rules takes it from
/// a clock, a simulation from its own.
public struct TokenAuthority: Sendable {
    /// How long what lasts, in microseconds.
    public struct Rules: Sendable {
        /// The life of an access token.
        public var accessMicroseconds: UInt64 = 300_000_000
        /// For how long the refresh token before the current one is still answered, from its refresh on.
        public var graceMicroseconds: UInt64 = 30_000_000

        /// 300 seconds, and 30.
        public init() {}
    }

    /// What a client gets.
    public struct Tokens: Sendable, Equatable {
        /// Opens the mail.
        public let access: String
        /// Gets the next tokens.
        public let refresh: String
        /// When the access token expires.
        public let expires: UInt64
    }

    /// What became of a refresh token that was presented.
    public enum Outcome: String, Sendable {
        /// It was the current one: it has a successor now.
        case rotated
        /// It was the one before, within the grace time: its successor was answered again.
        case repeated
        /// It was used up: the family is revoked.
        case reused
        /// Its family is revoked, or it never was one.
        case dead
    }

    /// One presentation of a refresh token.
    public struct Exchange: Sendable {
        /// When.
        public let time: UInt64
        /// Which sign-in the token comes from; 0 where it never was one.
        public let family: Int
        /// The how manieth of its family it is; the sign-in's is the first.
        public let generation: Int
        /// What became of it.
        public let outcome: Outcome
    }

    private struct Place {
        let family: Int
        let generation: Int
    }

    private struct Family {
        var current: String
        var generation = 1
        var rotated: UInt64 = 0
        var isRevoked = false
    }

    /// How long what lasts.
    public let rules: Rules
    /// Every presentation of a refresh token, in the order in which they came.
    public private(set) var exchanges: [Exchange] = []
    private var families: [Int: Family] = [:]
    private var places: [String: Place] = [:]
    private var access: [String: UInt64] = [:]
    private var accessCount = 0
    private let random: @Sendable () -> String

    /// `random` gives what nobody can guess: the part of a token that makes it one.
    public init(_ rules: Rules, random: @escaping @Sendable () -> String) {
        self.rules = rules
        self.random = random
    }

    /// The first tokens of a new family: what a sign-in ends with.
    public mutating func signIn(at now: UInt64) -> Tokens {
        let number = families.count + 1
        let token = issue(Place(family: number, generation: 1))
        families[number] = Family(current: token)
        return answer(token, at: now)
    }

    /// The next tokens; nil where the token is refused, which is for good (`invalid_grant`).
    public mutating func refresh(_ token: String, at now: UInt64) -> Tokens? {
        let place = places[token] ?? Place(family: 0, generation: 0)
        let outcome = present(place, at: now)
        exchanges.append(
            Exchange(time: now, family: place.family, generation: place.generation, outcome: outcome))
        guard outcome == .rotated || outcome == .repeated, let family = families[place.family] else {
            return nil
        }
        return answer(family.current, at: now)
    }

    private mutating func present(_ place: Place, at now: UInt64) -> Outcome {
        guard var family = families[place.family], !family.isRevoked else { return .dead }
        let isInGrace = now <= family.rotated + rules.graceMicroseconds
        if place.generation == family.generation {
            family.generation += 1
            family.current = issue(Place(family: place.family, generation: family.generation))
            family.rotated = now
            families[place.family] = family
            return .rotated
        }
        if place.generation == family.generation - 1, isInGrace { return .repeated }
        families[place.family]?.isRevoked = true
        return .reused
    }

    /// Whether the access token opens the mail now.
    public func opens(_ token: String, at now: UInt64) -> Bool { access[token].map { now < $0 } ?? false }

    /// From here on no access token that is out opens anything, as if time had passed.
    public mutating func expireAccess() { access = [:] }

    /// The how manieth of its family a refresh token is; nil for one that never was one.
    public func generation(of token: String) -> Int? { places[token]?.generation }

    /// How many sign-ins there were.
    public var familyCount: Int { families.count }

    /// How many families are revoked.
    public var revokedCount: Int { families.values.count { $0.isRevoked } }

    /// How many presentations had that outcome.
    public func count(_ outcome: Outcome) -> Int { exchanges.count { $0.outcome == outcome } }

    private mutating func issue(_ place: Place) -> String {
        let token = "refresh-\(place.family)-\(place.generation)-\(random())"
        places[token] = place
        return token
    }

    private mutating func answer(_ refresh: String, at now: UInt64) -> Tokens {
        accessCount += 1
        let token = "access-\(accessCount)-\(random())"
        let expires = now + rules.accessMicroseconds
        access[token] = expires
        return Tokens(access: token, refresh: refresh, expires: expires)
    }
}
