import ExampleAuthority
import Testing

/// The server that the simulation and the demo believe.
@Suite struct TokenAuthorityTests {
    private var authority = TokenAuthority(TokenAuthority.Rules()) { "x" }

    private static let second: UInt64 = 1_000_000

    @Test mutating func tokenBeforeGetsTheSuccessorAgainWithinTheGraceTime() throws {
        let first = authority.signIn(at: 0)
        let refreshed = authority.refresh(first.refresh, at: 10 * Self.second)
        let repeated = authority.refresh(first.refresh, at: 40 * Self.second)
        let (second, again) = try (#require(refreshed), #require(repeated))
        #expect(second.refresh != first.refresh)
        #expect(again.refresh == second.refresh)
        #expect(again.access != second.access)
        #expect(authority.revokedCount == 0)
    }

    @Test mutating func usePastTheGraceTimeRevokesTheFamily() throws {
        let first = authority.signIn(at: 0)
        let other = authority.signIn(at: 0)
        let refreshed = authority.refresh(first.refresh, at: 0)
        let second = try #require(refreshed)
        #expect(authority.refresh(first.refresh, at: 30 * Self.second + 1) == nil)
        #expect(authority.refresh(second.refresh, at: 31 * Self.second) == nil)
        #expect(authority.revokedCount == 1)
        #expect(authority.exchanges.map(\.outcome) == [.rotated, .reused, .dead])
        #expect(authority.refresh(other.refresh, at: 31 * Self.second) != nil)
    }

    @Test mutating func useOfAnOlderTokenRevokesAtOnce() throws {
        let first = authority.signIn(at: 0)
        let refreshed = authority.refresh(first.refresh, at: 0)
        let second = try #require(refreshed)
        let third = authority.refresh(second.refresh, at: 0)
        #expect(third != nil)
        #expect(authority.refresh(first.refresh, at: 0) == nil)
        #expect(authority.revokedCount == 1)
    }

    @Test mutating func accessTokenOpensForItsLife() {
        let tokens = authority.signIn(at: 0)
        #expect(authority.opens(tokens.access, at: 300 * Self.second - 1))
        #expect(!authority.opens(tokens.access, at: 300 * Self.second))
        #expect(!authority.opens(tokens.refresh, at: 0))
        #expect(authority.refresh(tokens.access, at: 0) == nil)
    }
}
