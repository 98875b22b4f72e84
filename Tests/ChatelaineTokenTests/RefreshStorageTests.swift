import Chatelaine
import ChatelaineHTTP
import SDBus
import Synchronization
import TestKit
import Testing

/// What the token server gave is not lost where the broker cannot store it, and processes that share a token.
@Suite struct RefreshStorageTests {
    init() { TestLoop.start() }

    // B125: the disk fails between the server's answer and its storing. The answer is offered again, with the same
    // fence, and the refresh token that it was got with is never shown to the server again.
    @BrokerActor @Test func b125ATokenThatCannotBeStoredIsOfferedAgain() async throws {
        let (stage, server) = (try await TokenStage(failing: true), try await TokenServer())
        let before = try await stage.store("AT0", "RT0", endingIn: -1)
        let endpoint = try server.endpoint("rotate/300")
        let gate = stage.gate { refreshToken in
            let response = try await endpoint.refresh(refreshToken)
            try stage.setDisk(isFailing: true)
            return response
        }
        for _ in 0..<2 {
            await #expect {
                try await gate.validAccessToken()
            } throws: {
                if case RefreshError.notStored = $0 { true } else { false }
            }
        }
        try stage.setDisk(isFailing: false)
        let token = try await gate.validAccessToken()
        #expect(text(token.secret) == "AT1" && token.revision > before)
        #expect(text(try await stage.stored().refreshToken) == "RT1")
        #expect(await server.end() == ["refresh_token RT0 app"])
    }

    /// The disk takes them when the access token has ended: it is stored for its refresh token, and not handed out.
    @BrokerActor @Test func whatIsStoredLateIsLookedAtLikeAnyOther() async throws {
        let (stage, server) = (try await TokenStage(failing: true), try await TokenServer())
        try await stage.store("AT0", "RT0", endingIn: -1)
        let endpoint = try server.endpoint("rotate/300")
        let isLate = Mutex(false)
        let clock: @Sendable () -> UInt64 = {
            EventClock.realtime.now + (isLate.withLock(\.self) ? 400_000_000 : 0)
        }
        let gate = stage.gate(clock: clock) { refreshToken in
            let response = try await endpoint.refresh(refreshToken)
            if !isLate.withLock(\.self) { try stage.setDisk(isFailing: true) }
            return response
        }
        await #expect(throws: RefreshError.self) { try await gate.validAccessToken() }
        try stage.setDisk(isFailing: false)
        isLate.withLock { $0 = true }
        #expect(text(try await gate.validAccessToken().secret) == "AT2")
        #expect(await server.end() == ["refresh_token RT0 app", "refresh_token RT1 app"])
    }

    @BrokerActor @Test func b125ADiskThatRecoversIsNotNoticed() async throws {
        let (stage, server) = (try await TokenStage(failing: true), try await TokenServer())
        try await stage.store("AT0", "RT0", endingIn: -1)
        let endpoint = try server.endpoint("rotate/300")
        let failures = Mailbox<Void>()
        let tap = try BusTap(stage.bus) { said in
            guard said.contains("org.chatelaine.Error.IO") else { return }
            failures.post(())
            try? stage.setDisk(isFailing: false)
        }
        let gate = stage.gate(at: tap.address) { refreshToken in
            let response = try await endpoint.refresh(refreshToken)
            try stage.setDisk(isFailing: true)
            return response
        }
        #expect(text(try await gate.validAccessToken().secret) == "AT1")
        try await failures.next("the failure")
        #expect(text(try await stage.stored().refreshToken) == "RT1")
        #expect(await server.end() == ["refresh_token RT0 app"])
    }

    /// The broker is killed and started anew while the token server is asked. Its grant outlives it: the answer is stored
    /// by the connection that the gate makes then, and nobody asks a second time.
    @BrokerActor @Test(arguments: [false, true]) func anAnswerIsStoredByTheNextBroker(isDirect: Bool)
        async throws
    {
        let (stage, server) = (try await TokenStage(), try await TokenServer())
        let before = try await stage.store("AT0", "RT0", endingIn: -1)
        let endpoint = try server.endpoint("rotate/300")
        let gate = stage.gate(at: isDirect ? stage.directAddress : nil) { refreshToken in
            let response = try await endpoint.refresh(refreshToken)
            try await stage.crash()
            return response
        }
        let token = try await gate.validAccessToken()
        #expect(text(token.secret) == "AT1" && token.revision > before)
        #expect(text(try await stage.stored().refreshToken) == "RT1")
        try await stage.crash()
        #expect(try await gate.validAccessToken().revision == token.revision)
        #expect(await server.end() == ["refresh_token RT0 app"])
    }

    // B123, the client's part: seven processes, one refresh for each end.
    @BrokerActor @Test func b123SevenProcessesAskTheServerOnce() async throws {
        let (stage, server) = (try await TokenStage(), try await TokenServer())
        let before = try await stage.store("AT0", "RT0", endingIn: -1)
        var clients: [ChildProcess] = []
        for _ in 0..<7 {
            clients.append(try await stage.startClient(server.address("/token/held/300").text))
        }
        for client in clients { try client.write("go\n") }
        #expect(try await server.request() == "refresh_token RT0 app")
        try server.release()
        for client in clients {
            let line = try await within("a client's token") { await client.output.next() }
            #expect(line == "token of revision \(before + 1)")
        }
        #expect(await server.end().isEmpty)
    }

    @BrokerActor @Test func anotherProcessTakesOverWhenTheFirstIsKilled() async throws {
        let (stage, server) = (try await TokenStage(), try await TokenServer())
        try await stage.store("AT0", "RT0", endingIn: -1)
        let first = try await stage.startClient(server.address("/token/silent").text)
        try first.write("go\n")
        #expect(try await server.request() == "refresh_token RT0 app")
        let second = try await stage.startClient(server.address("/token/rotate/300").text)
        try second.write("go\n")
        first.kill()
        let line = try await within("the second client's token") { await second.output.next() }
        #expect(line?.hasPrefix("token of revision ") == true)
        #expect(await server.end() == ["refresh_token RT0 app"])
    }
}
