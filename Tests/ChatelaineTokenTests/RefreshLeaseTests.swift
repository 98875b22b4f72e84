import BrokerModel
import SDBus
import TestKit
import Testing

@testable import Chatelaine

/// A lease belongs to the connection that it was granted to.
@Suite struct RefreshLeaseTests {
    init() { TestLoop.start() }

    private static let noSession = ChatelaineError(Refusal(.noSession, "There is no such session."))

    @BrokerActor private final class Count {
        var number = 0
    }

    /// While the token server is asked, another call of the same vault connects anew. The lease is not lost with it, and
    /// its answer, good or bad, goes where the lease is.
    @BrokerActor @Test(arguments: [true, false])
    func itOutlivesAnotherCallsReconnect(isGranted: Bool) async throws {
        let stage = try await TokenStage()
        try await stage.store("AT0", "RT0", endingIn: -1)
        let vault = stage.vault()
        let (asked, failed) = (Count(), Count())
        let gate = RefreshGate(vault, account: "alice") { @BrokerActor _ in
            asked.number += 1
            try await vault.link.call { (_) throws(ChatelaineError) in
                failed.number += 1
                if failed.number == 1 { throw Self.noSession }
            }
            guard isGranted else { throw TokenServerError.refused(status: 400, code: "invalid_grant") }
            return TokenResponse(accessToken: secret("AT1"), refreshToken: secret("RT1"), lifetime: 300)
        }
        if isGranted {
            #expect(text(try await gate.validAccessToken().secret) == "AT1")
        } else {
            await #expect {
                try await gate.validAccessToken()
            } throws: {
                if case RefreshError.signInNeeded = $0 { true } else { false }
            }
        }
        #expect(asked.number == 1)
    }
}
