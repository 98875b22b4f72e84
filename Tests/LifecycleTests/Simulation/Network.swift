import ExampleAuthority
import SDBus

/// The way to the authorization server and back, on which requests and answers are lost; what is on its way gets there
/// whether or not the process that sent it still lives.
@BrokerActor final class Network {
    private let time: VirtualTime
    private let ledger: Ledger
    private(set) var authority: TokenAuthority

    /// What a process hears.
    enum Reply {
        case tokens(TokenAuthority.Tokens)
        /// 400, `invalid_grant`
        case refused
        /// Nothing: the request or the answer was lost.
        case silence
    }

    /// Until what the library's HTTP client gives a request, when no answer comes.
    private static let patienceMicroseconds: UInt64 = 8_000_000

    init(_ time: VirtualTime, _ ledger: Ledger, _ rules: TokenAuthority.Rules) {
        self.time = time
        self.ledger = ledger
        authority = TokenAuthority(rules) { "x" }
    }

    var rules: TokenAuthority.Rules { authority.rules }

    func signIn() -> TokenAuthority.Tokens { authority.signIn(at: time.monotonic) }

    func opens(_ access: String) -> Bool { authority.opens(access, at: time.monotonic) }

    /// Asks the server for the next tokens. `way` says how long the request and the answer take, and which is lost.
    func refresh(_ token: String, _ way: Way, _ life: Life) async -> Reply {
        let end = time.monotonic + Self.patienceMicroseconds
        await time.sleep(way.there)
        if way.loses != .request {
            let tokens = authority.refresh(token, at: time.monotonic)
            if let exchange = authority.exchanges.last { ledger.note(exchange) }
            await time.sleep(way.back)
            guard let tokens else { return .refused }
            if life.isAlive && way.loses == .nothing { return .tokens(tokens) }
            ledger.answerLost(token, life.isAlive ? .network : .kill)
        }
        await time.sleep(end - time.monotonic)
        return .silence
    }

    /// How a request fares.
    struct Way {
        enum Loss {
            case nothing
            case request
            case answer
        }

        let there: UInt64
        let back: UInt64
        let loses: Loss

        init(_ dice: inout Dice, _ chances: Chances) {
            there = dice.time(0.02...1.5)
            back = dice.time(0.02...1.5)
            if dice.chance(perMille: chances.requestLost) {
                loses = .request
            } else {
                loses = dice.chance(perMille: chances.answerLost) ? .answer : .nothing
            }
        }
    }
}

/// How often what goes wrong, out of a thousand times.
struct Chances: Sendable {
    /// A request never reaches the server.
    var requestLost: UInt64 = 30
    /// An answer never reaches the process, though the server has rotated.
    var answerLost: UInt64 = 30
    /// A holder is killed while it asks.
    var holderKilled: UInt64 = 40
    /// The broker ends while a refresh is under way.
    var brokerEnds: UInt64 = 10
    /// The person signs in again while a refresh is under way.
    var signedIn: UInt64 = 5
    /// The device is locked while a refresh is under way.
    var locked: UInt64 = 10
}
