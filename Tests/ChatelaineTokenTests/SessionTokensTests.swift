import BrokerModel
import Chatelaine
import Sodium
import Testing

/// Tokens as one encoded item, and how long they are good for.
@Suite struct SessionTokensTests {
    private static let hour: UInt64 = 3_600_000_000
    private static let now: UInt64 = 1_800_000_000_000_000

    private static let examples = [
        SessionTokens(accessToken: secret("AT"), stored: 1),
        SessionTokens(
            accessToken: secret("AT"), refreshToken: secret("RT"), tokenType: "DPoP", scope: "a b",
            stored: now,
            expires: now + hour),
        SessionTokens(
            accessToken: secret(""), refreshToken: secret([0, 255]), tokenType: "", scope: "ü", stored: .max,
            expires: .max),
        SessionTokens(accessToken: secret([UInt8](repeating: 7, count: 70_000)), stored: 0, expires: 0),
    ]

    @Test(arguments: examples.indices) func whatIsEncodedIsReadBack(_ index: Int) throws {
        let tokens = Self.examples[index]
        let read = try SessionTokens(encoded: tokens.encoded())
        #expect(bytes(read.accessToken) == bytes(tokens.accessToken))
        #expect(read.refreshToken.map(bytes) == tokens.refreshToken.map(bytes))
        #expect(read.tokenType == tokens.tokenType && read.scope == tokens.scope)
        #expect(read.stored == tokens.stored && read.expires == tokens.expires)
    }

    @Test func theFormatIsTheOneOfTheDocument() {
        let tokens = SessionTokens(
            accessToken: secret("a"), refreshToken: secret("rr"), tokenType: "B", scope: "", stored: 1,
            expires: 258)
        #expect(
            bytes(tokens.encoded()) == [
                0x43, 0x54, 1, 1, 0, 0, 0, 1, 0x61, 2, 0, 0, 0, 2, 0x72, 0x72, 3, 0, 0, 0, 1, 0x42, 4, 0, 0,
                0, 0,
                5, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1, 6, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 1, 2,
            ])
    }

    @Test func everyCutIsDamage() throws {
        let whole = bytes(Self.examples[1].encoded())
        // Behind the time of storing an item without an end is whole.
        let shorter = whole.count - 13
        for count in whole.indices where count != shorter { expectDamage(Array(whole[..<count])) }
        #expect(try SessionTokens(encoded: secret(Array(whole[..<shorter]))).expires == nil)
        expectDamage(whole + [0])
    }

    /// Each input is refused, or is exactly what its own tokens are written as: there is one form.
    @Test func garbageIsDamageAndNoCrash() throws {
        var random = SystemRandomNumberGenerator()
        let seed = random.next()
        var numbers = Numbers(state: seed)
        let whole = bytes(Self.examples[1].encoded())
        for _ in 0..<20_000 {
            var input = whole
            for _ in 0...numbers.next(4) {
                switch numbers.next(3) {
                case 0: input[Int(numbers.next(UInt64(input.count)))] = UInt8(numbers.next(256))
                case 1: input.insert(UInt8(numbers.next(256)), at: Int(numbers.next(UInt64(input.count))))
                default: input.remove(at: Int(numbers.next(UInt64(input.count))))
                }
            }
            do throws(ChatelaineError) {
                let tokens = try SessionTokens(encoded: secret(input))
                #expect(bytes(tokens.encoded()) == input, "seed \(seed)")
            } catch {
                #expect(error.kind == .decode, "seed \(seed)")
            }
        }
    }

    private func expectDamage(_ input: [UInt8]) {
        #expect {
            _ = try SessionTokens(encoded: secret(input))
        } throws: {
            ($0 as? ChatelaineError)?.kind == .decode
        }
    }

    /// A program's own exchange may pass on what its server wrote.
    @Test func anEmptyRefreshTokenIsNone() {
        let response = TokenResponse(accessToken: secret("AT"), refreshToken: secret(""), scope: "")
        #expect(response.refreshToken == nil && response.scope == nil)
        let tokens = SessionTokens(response, replacing: Self.examples[1], asked: Self.now)
        #expect(text(tokens.refreshToken) == "RT" && tokens.scope == "a b")
    }

    @Test func nothingThatIsPrintedShowsAToken() {
        let tokens = SessionTokens(
            accessToken: secret("sentinel-a"), refreshToken: secret("sentinel-r"), scope: "s", stored: 0)
        let response = TokenResponse(accessToken: secret("sentinel-a"), refreshToken: secret("sentinel-r"))
        var dumped = ""
        dump(tokens, to: &dumped)
        dump(response, to: &dumped)
        for text in ["\(tokens)", "\(response)", String(reflecting: tokens), dumped] {
            #expect(!text.contains("sentinel"))
        }
        #expect("\(tokens)".contains("a refresh token"))
    }

    @Test func theBrokerIsToldWhenToRenewAndNeverToDropARefreshToken() {
        let renewable = Self.examples[1]
        let told = renewable.attributes(at: Self.now)
        #expect(told["FreshUntil"] == .counter(Self.now + Self.hour) && told.entries.count == 1)
        let single = SessionTokens(accessToken: secret("a"), stored: Self.now, expires: Self.now + 1)
        #expect(single.attributes(at: Self.now)["Expires"] == .counter(Self.now + 1))
        #expect(single.attributes(at: Self.now + 1).entries.isEmpty)
    }

    @Test func aServerThatGivesNoRefreshTokenKeepsTheOldOne() {
        let response = TokenResponse(accessToken: secret("AT2"), lifetime: 300)
        let renewed = SessionTokens(response, replacing: Self.examples[1], asked: Self.now)
        #expect(
            text(renewed.refreshToken) == "RT" && text(renewed.accessToken) == "AT2" && renewed.scope == "a b"
        )
        #expect(renewed.expires == Self.now + 300_000_000)
    }

    // B137: a clock that was turned back must not stretch a token's life, and one that was turned on ends it.
    @Test func b137ATokenStoredInTheFutureIsNotFresh() {
        let tokens = SessionTokens(
            TokenResponse(accessToken: secret("AT"), lifetime: 3_600), asked: Self.now)
        #expect(tokens.isFresh(at: Self.now, leeway: .seconds(60)))
        #expect(!tokens.isFresh(at: Self.now - 2 * Self.hour, leeway: .zero))
        #expect(!tokens.isFresh(at: Self.now - 1, leeway: .zero))
        #expect(!tokens.isFresh(at: Self.now + 48 * Self.hour, leeway: .zero))
        let endless = SessionTokens(accessToken: secret("AT"), stored: Self.now)
        #expect(endless.isFresh(at: .max, leeway: .seconds(60)) && !endless.isFresh(at: 0, leeway: .zero))
    }

    @Test func b137NoLifeOverflows() {
        for lifetime in [0, 1, UInt64.max / 1_000_000, .max] {
            for asked in [0, Self.now, UInt64.max] {
                let tokens = SessionTokens(
                    TokenResponse(accessToken: secret("AT"), lifetime: lifetime), asked: asked)
                #expect(tokens.expires! >= asked)
                for leeway in [Duration.zero, .seconds(60), .seconds(Int64.max), .seconds(-1)] {
                    #expect(!tokens.isFresh(at: .max, leeway: leeway))
                }
            }
        }
    }

    @Test func leewayIsHalfOfALifeAtMost() {
        let tokens = SessionTokens(TokenResponse(accessToken: secret("AT"), lifetime: 20), asked: Self.now)
        #expect(tokens.isFresh(at: Self.now + 9_000_000, leeway: .seconds(60)))
        #expect(!tokens.isFresh(at: Self.now + 10_000_000, leeway: .seconds(60)))
        #expect(tokens.isFresh(at: Self.now + 10_000_000, leeway: .seconds(9)))
    }
}

/// Numbers that a seed gives again (xorshift).
struct Numbers {
    var state: UInt64

    /// One below the limit.
    mutating func next(_ limit: UInt64) -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state % limit
    }
}
