import BrokerModel
import Chatelaine
import ChatelaineHTTP
import SDBus
import TestKit
import Synchronization
import Testing

/// One gate against a real broker and a real token server.
@Suite struct RefreshGateTests {
    init() { TestLoop.start() }

    @BrokerActor private func stageAndServer() async throws -> (TokenStage, TokenServer) {
        (try await TokenStage(), try await TokenServer())
    }

    private func exchange(_ server: TokenServer, _ path: String) throws -> RefreshGate.Exchange {
        let endpoint = try server.endpoint(path)
        return { try await endpoint.refresh($0) }
    }

    @BrokerActor @Test func aFreshTokenIsReturnedAtOnce() async throws {
        let (stage, server) = try await stageAndServer()
        let revision = try await stage.store("AT0", "RT0", endingIn: 300)
        let token = try await stage.gate(exchange(server, "rotate/300")).validAccessToken()
        #expect(text(token.secret) == "AT0" && token.revision == revision && token.type == "Bearer")
        #expect(await server.end().isEmpty)
    }

    @BrokerActor @Test(arguments: [-1, 20]) func oneThatEndsSoonIsRenewed(seconds: Int) async throws {
        let (stage, server) = try await stageAndServer()
        let revision = try await stage.store("AT0", "RT0", endingIn: seconds)
        let gate = stage.gate(try exchange(server, "rotate/300"))
        let token = try await gate.validAccessToken()
        #expect(text(token.secret) == "AT1" && token.revision > revision)
        #expect(text(try await stage.stored().refreshToken) == "RT1")
        let again = try await gate.validAccessToken()
        #expect(again.revision == token.revision)
        #expect(await server.end() == ["refresh_token RT0 app"])
    }

    @BrokerActor @Test func theBrokerIsToldUntilWhenItIsFresh() async throws {
        let (stage, server) = try await stageAndServer()
        try await stage.store("AT0", "RT0", endingIn: -1)
        let token = try await stage.gate(exchange(server, "rotate/300")).validAccessToken()
        let item = try await stage.connect().read(TokenStage.item)
        #expect(item.attributes["FreshUntil"] == token.expires.map { .counter($0) } && token.expires != nil)
        #expect(item.attributes["Expires"] == nil)
    }

    @BrokerActor @Test func aServerThatGivesNoRefreshTokenKeepsTheOldOne() async throws {
        let (stage, server) = try await stageAndServer()
        try await stage.store("AT0", "RT0", endingIn: -1)
        let token = try await stage.gate(exchange(server, "keep/300")).validAccessToken()
        let stored = try await stage.stored()
        #expect(text(token.secret) == "AT1" && text(stored.accessToken) == "AT1")
        #expect(text(stored.refreshToken) == "RT0")
    }

    // B122: 20 callers at once in one process; the token endpoint is hit once.
    @BrokerActor @Test func b122TwentyCallersAskTheServerOnce() async throws {
        let (stage, server) = try await stageAndServer()
        try await stage.store("AT0", "RT0", endingIn: -1)
        let gate = stage.gate(try exchange(server, "held/300"))
        let callers = (0..<20).map { _ in Task { try await gate.validAccessToken() } }
        #expect(try await server.request() == "refresh_token RT0 app")
        try server.release()
        var tokens: Set<String?> = []
        for caller in callers { tokens.insert(text(try await caller.value.secret)) }
        #expect(tokens == ["AT1"])
        #expect(await server.end().isEmpty)
    }

    @BrokerActor @Test func aCallerThatLeavesLeavesTheOthersAlone() async throws {
        let (stage, server) = try await stageAndServer()
        try await stage.store("AT0", "RT0", endingIn: -1)
        let gate = stage.gate(try exchange(server, "held/300"))
        let leaving = Task { try await gate.validAccessToken() }
        let staying = Task { try await gate.validAccessToken() }
        _ = try await server.request()
        leaving.cancel()
        // It goes at once, while the server has not answered.
        await #expect(throws: CancellationError.self) { try await leaving.value }
        try server.release()
        #expect(text(try await staying.value.secret) == "AT1")
        #expect(await server.end().isEmpty)
    }

    @BrokerActor @Test func whatTheServerGaveIsStoredThoughNobodyWaitsAnyMore() async throws {
        let (stage, server) = try await stageAndServer()
        let before = try await stage.store("AT0", "RT0", endingIn: -1)
        let gate = stage.gate(try exchange(server, "held/300"))
        let leaving = Task { try await gate.validAccessToken() }
        _ = try await server.request()
        leaving.cancel()
        _ = await leaving.result
        try server.release()
        // The next caller finds the refresh that goes on, or what it has stored.
        let token = try await gate.validAccessToken()
        #expect(text(token.secret) == "AT1" && token.revision > before)
        #expect(text(try await stage.stored().refreshToken) == "RT1")
        #expect(await server.end().isEmpty)
    }

    // B124: this process asks for another token than the one that a service refused. What somebody else has stored
    // meanwhile is what it gets, and the server is not asked.
    @BrokerActor @Test func b124ARefusedTokenThatWasReplacedMeanwhileIsNotRenewed() async throws {
        let (stage, server) = try await stageAndServer()
        try await stage.store("AT0", "RT0", endingIn: 300)
        let gate = stage.gate(try exchange(server, "rotate/300"))
        let refused = try await gate.validAccessToken()
        try await stage.store("AT-new", "RT-new", endingIn: 300)
        let next = try await gate.validAccessToken(insteadOf: refused)
        #expect(text(next.secret) == "AT-new")
        #expect(text(try await stage.stored().refreshToken) == "RT-new")
        #expect(await server.end().isEmpty)
    }

    // B124: the server calls the grant dead, and a sign-in was faster: the loser deletes nothing.
    @BrokerActor @Test func b124ALosersRejectionDeletesNothing() async throws {
        let stage = try await TokenStage()
        try await stage.store("AT0", "RT0", endingIn: -1)
        let gate = stage.gate { _ in
            try await stage.store("AT-new", "RT-new", endingIn: 300)
            throw TokenServerError.refused(status: 400, code: "invalid_grant")
        }
        #expect(text(try await gate.validAccessToken().secret) == "AT-new")
        #expect(text(try await stage.stored().refreshToken) == "RT-new")
    }

    @BrokerActor @Test func aLateAnswerGivesWayToASignIn() async throws {
        let stage = try await TokenStage()
        try await stage.store("AT0", "RT0", endingIn: -1)
        let gate = stage.gate { _ in
            try await stage.store("AT-new", "RT-new", endingIn: 300)
            return TokenResponse(
                accessToken: secret("AT-late"), refreshToken: secret("RT-late"), lifetime: 300)
        }
        #expect(text(try await gate.validAccessToken().secret) == "AT-new")
        #expect(text(try await stage.stored().refreshToken) == "RT-new")
    }

    @BrokerActor @Test func aLateAnswerGivesWayToALogout() async throws {
        let stage = try await TokenStage()
        try await stage.store("AT0", "RT0", endingIn: -1)
        let gate = stage.gate { _ in
            _ = try await stage.connect().logout(group: "org.example.mail", service: "", reason: "test")
            return TokenResponse(
                accessToken: secret("AT-late"), refreshToken: secret("RT-late"), lifetime: 300)
        }
        await expectSignIn(gate)
        await expectNothingStored(stage)
    }

    @BrokerActor @Test func aRefusedTokenIsRenewedThoughItsTimeIsNotOver() async throws {
        let (stage, server) = try await stageAndServer()
        try await stage.store("AT0", "RT0", endingIn: 300)
        let gate = stage.gate(try exchange(server, "rotate/300"))
        let refused = try await gate.validAccessToken()
        #expect(text(try await gate.validAccessToken(insteadOf: refused).secret) == "AT1")
        #expect(await server.end() == ["refresh_token RT0 app"])
    }

    @BrokerActor @Test(arguments: [400, 401]) func aDeadGrantAsksForASignInAndIsGone(status: Int) async throws
    {
        let (stage, server) = try await stageAndServer()
        try await stage.store("AT0", "RT0", endingIn: -1)
        let gate = stage.gate(try exchange(server, "status/\(status)"))
        await expectSignIn(gate)
        #expect(await server.end() == ["refresh_token RT0 app"])
        await expectNothingStored(stage)
        // Without an item there is nothing to ask with.
        await expectSignIn(gate)
    }

    // B135: a network failure, a server that is down and a proxy that wants a password kill no grant.
    @BrokerActor @Test(arguments: ["status/503", "status/407", "text", "broken", "gone"])
    func b135ABadDayKeepsTheGrant(path: String) async throws {
        let (stage, server) = try await stageAndServer()
        let revision = try await stage.store("AT0", "RT0", endingIn: -1)
        let endpoint = try server.endpoint(path)
        if path == "gone" { _ = await server.end() }
        let failing = stage.gate { try await endpoint.refresh($0) }
        await #expect {
            try await failing.validAccessToken()
        } throws: { error in
            guard case RefreshError.unavailable(_ as TokenServerError) = error else { return false }
            return true
        }
        let item = try await stage.connect().read(TokenStage.item)
        #expect(item.attributes["Revision"] == .counter(revision))
        // The lease is free, after a pause: the next one gets it, and asks with the same refresh token.
        let better = try await TokenServer()
        let next = stage.gate(try exchange(better, "rotate/300"))
        #expect(text(try await next.validAccessToken().secret) == "AT1")
        #expect(await better.end() == ["refresh_token RT0 app"])
    }

    /// The server may have rotated before its answer was lost: the same holder asks again, before anybody else may.
    @BrokerActor @Test func anAnswerThatIsLostIsAskedForAgainUnderTheOneLease() async throws {
        let stage = try await TokenStage()
        let revision = try await stage.store("AT0", "RT0", endingIn: -1)
        let asked = Counter()
        let gate = stage.gate { refreshToken in
            guard asked.next() == 3 else { throw TokenServerError.unreachable("test") }
            #expect(text(refreshToken) == "RT0")
            let other = try await stage.connect()
            await #expect {
                _ = try await other.beginRefresh(TokenStage.item, stale: revision, timeoutMicroseconds: 0)
            } throws: { error in
                (error as? ChatelaineError)?.kind == .busy
            }
            return TokenResponse(accessToken: secret("AT1"), refreshToken: secret("RT1"), lifetime: 300)
        }
        #expect(text(try await gate.validAccessToken().secret) == "AT1")
        #expect(asked.next() == 4)
    }

    /// A refusal is an answer: nothing was rotated, and others may try.
    @BrokerActor @Test func aRefusalIsNotAskedForAgain() async throws {
        let (stage, server) = try await stageAndServer()
        try await stage.store("AT0", "RT0", endingIn: -1)
        let failing = stage.gate(try exchange(server, "status/503"))
        await #expect(throws: RefreshError.self) { try await failing.validAccessToken() }
        #expect(await server.end() == ["refresh_token RT0 app"])
    }

    @BrokerActor @Test func anErrorOfTheAppsOwnIsABadDayAndIsNotShown() async throws {
        struct Leaky: Error { let token = "sentinel" }
        let stage = try await TokenStage()
        try await stage.store("AT0", "RT0", endingIn: -1)
        let gate = stage.gate { _ in throw Leaky() }
        await #expect {
            try await gate.validAccessToken()
        } throws: { error in
            guard case RefreshError.unavailable(_ as Leaky) = error else { return false }
            return !"\(error)".contains("sentinel")
        }
        #expect(text(try await stage.stored().refreshToken) == "RT0")
    }

    // B137: the clock is set back by two hours, then on by two days. Each time the token counts as ended.
    @BrokerActor @Test(arguments: [-7_200, 172_800]) func b137ASetClockDoesNotStretchAToken(seconds: Int64)
        async throws
    {
        let (stage, server) = try await stageAndServer()
        try await stage.store("AT0", "RT0", endingIn: 3_000)
        let clock: @Sendable () -> UInt64 = {
            UInt64(Int64(EventClock.realtime.now) + seconds * 1_000_000)
        }
        let gate = stage.gate(clock: clock, try exchange(server, "rotate/3600"))
        #expect(text(try await gate.validAccessToken().secret) == "AT1")
        #expect(text(try await gate.validAccessToken().secret) == "AT1")
        #expect(await server.end() == ["refresh_token RT0 app"])
    }

    @BrokerActor @Test func withoutARefreshTokenThereIsOnlyASignIn() async throws {
        let stage = try await TokenStage()
        try await stage.store("AT0", nil, endingIn: -1)
        await expectSignIn(stage.gate { _ in throw TestFailure("the server was asked") })
    }

    @BrokerActor @Test func somethingElseInTheItemIsDamage() async throws {
        let stage = try await TokenStage()
        _ = try await stage.connect().store(TokenStage.item, secret("a password"))
        await #expect {
            try await stage.gate { _ in throw TestFailure("the server was asked") }.validAccessToken()
        } throws: { error in
            if case RefreshError.vault(.damaged) = error { true } else { false }
        }
        #expect(text(try await stage.connect().read(TokenStage.item).secret) == "a password")
    }

    @BrokerActor @Test func aLockedTokenIsLockedAndNotGone() async throws {
        let (stage, server) = try await stageAndServer()
        try await stage.store("AT0", "RT0", endingIn: 300)
        let gate = stage.gate(try exchange(server, "rotate/300"))
        _ = try await gate.validAccessToken()
        let owner = try stage.connect()
        var foreground = Attributes()
        foreground["Accessible"] = .text("when-unlocked")
        _ = try await owner.update(TokenStage.item, foreground)
        try await owner.setPasscode(old: nil, new: secret("1234"))
        try await owner.lock()
        await #expect {
            try await gate.validAccessToken()
        } throws: { error in
            if case RefreshError.vault(.locked) = error { true } else { false }
        }
        try await owner.unlock(secret("1234"))
        #expect(text(try await gate.validAccessToken().secret) == "AT0")
        #expect(await server.end().isEmpty)
    }

    @BrokerActor @Test func anotherProcessThatTakesLongIsBusyAndNoLicence() async throws {
        let (stage, server) = try await stageAndServer()
        let revision = try await stage.store("AT0", "RT0", endingIn: -1)
        let holder = try stage.connect()
        guard
            case .granted(let fence, _) = try await holder.beginRefresh(
                TokenStage.item, stale: revision, timeoutMicroseconds: 0)
        else { throw TestFailure("the first to ask is not granted") }
        let gate = stage.gate(patience: .milliseconds(50), try exchange(server, "rotate/300"))
        await #expect {
            try await gate.validAccessToken()
        } throws: {
            if case RefreshError.busy = $0 { true } else { false }
        }
        let tokens = SessionTokens(
            TokenResponse(accessToken: secret("AT-h"), refreshToken: secret("RT-h"), lifetime: 300),
            asked: EventClock.realtime.now)
        _ = try await holder.completeRefresh(fence, Attributes(), tokens.encoded())
        #expect(text(try await gate.validAccessToken().secret) == "AT-h")
        #expect(await server.end().isEmpty)
    }

    private func expectNothingStored(_ stage: TokenStage) async {
        await #expect {
            try await stage.stored()
        } throws: {
            if case VaultError.notFound = $0 { true } else { false }
        }
    }

    @BrokerActor private func expectSignIn(_ gate: RefreshGate) async {
        await #expect {
            try await gate.validAccessToken()
        } throws: {
            if case RefreshError.signInNeeded = $0 { true } else { false }
        }
    }
}

private final class Counter: Sendable {
    private let number = Mutex(0)

    func next() -> Int {
        number.withLock { number in
            number += 1
            return number
        }
    }
}
