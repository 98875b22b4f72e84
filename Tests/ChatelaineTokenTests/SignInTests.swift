import Chatelaine
import ChatelaineHTTP
import SDBus
import TestKit
import Testing

/// Sign-ins by a real browser's stand-in, a real authorization server and a real broker.
@Suite struct SignInTests {
    init() { TestLoop.start() }

    /// `fake_browser.py` in the person's place.
    private final class Browser: Sendable {
        let said = Mailbox<String>()
        private let way: [String]

        init(_ way: String...) { self.way = way }

        func open(_ address: String) async throws {
            let process = try await ChildProcess.start(
                ["/usr/bin/python3", TokenServer.file("fake_browser.py"), address] + way)
            while let line = await process.output.next() { said.post(line) }
        }
    }

    private func signIn(
        _ server: TokenServer, _ way: String, exchange: String = "code/300",
        timeout: Duration = .seconds(300),
        _ browser: Browser
    ) throws -> SignIn {
        SignIn(
            authorization: try server.address("/authorize/" + way), endpoint: try server.endpoint(exchange),
            scope: "mail contacts", timeout: timeout, open: { try await browser.open($0) })
    }

    @BrokerActor @Test func aSignInStoresTokens() async throws {
        let (stage, server, browser) = (try await TokenStage(), try await TokenServer(), Browser())
        let tokens = try await signIn(server, "ok", browser).run(into: stage.vault(), account: "alice")
        let stored = try await stage.stored()
        #expect(text(stored.accessToken) == "AT1" && text(stored.refreshToken) == "RT1")
        #expect(stored.scope == "mail contacts" && stored.expires == tokens.expires)
        let attributes = try await stage.connect().read(TokenStage.item).attributes
        #expect(attributes["Accessible"] == .text("after-first-unlock"))
        #expect(attributes["FreshUntil"] == tokens.expires.map { .counter($0) })
        let page = try await browser.said.next("the page")
        #expect(page.hasPrefix("200 ") && page.contains("You are signed in."))
        #expect(
            await server.end() == [
                "authorize client_id code_challenge code_challenge_method redirect_uri response_type scope state",
                "authorization_code - app",
            ])
    }

    /// The address that goes to the browser is an argument that everybody can read.
    @BrokerActor @Test func theAddressHasNoVerifier() async throws {
        let addresses = Mailbox<String>()
        let server = try await TokenServer()
        let signIn = SignIn(
            authorization: try server.address("/authorize/ok?a=b"), endpoint: try server.endpoint("code/300"),
            timeout: .milliseconds(1), open: { addresses.post($0) })
        await expect(signIn) { if case .timedOut = $0 { true } else { false } }
        let address = try await addresses.next("the address")
        #expect(
            address.contains("?a=b&response_type=code&client_id=app&redirect_uri=http%3A%2F%2F127.0.0.1%3A"))
        #expect(address.contains("&code_challenge_method=S256") && !address.contains("verifier"))
        let values = address.split(separator: "&").map { $0.split(separator: "=").last! }
        // A state and a challenge, each of 32 bytes.
        #expect(values.filter { $0.utf8.count == 43 }.count == 2)
    }

    @BrokerActor @Test func aNoIsARefusalWithAPage() async throws {
        let (server, browser) = (try await TokenServer(), Browser())
        await expect(try signIn(server, "deny", browser)) {
            if case .refused(code: "access_denied") = $0 { true } else { false }
        }
        #expect(try await browser.said.next("the page").contains("You are not signed in."))
        #expect(await server.end().count == 1)
    }

    @BrokerActor @Test(arguments: ["foreign", "bare"]) func anotherStateIsNotUsed(way: String) async throws {
        let (server, browser) = (try await TokenServer(), Browser())
        let signIn = try signIn(server, way, browser)
        let task = Task { try await signIn.tokens() }
        #expect(try await browser.said.next("the page").hasPrefix("400 "))
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        // The code was not spent.
        #expect(await server.end().count == 1)
    }

    @BrokerActor @Test func aPersonWhoNeverComesBackIsWaitedForSoLong() async throws {
        let (server, browser) = (try await TokenServer(), Browser("nothing"))
        await expect(try signIn(server, "ok", timeout: .milliseconds(500), browser)) {
            if case .timedOut = $0 { true } else { false }
        }
    }

    @BrokerActor @Test func aBrowserThatCannotBeOpenedIsSaid() async throws {
        let server = try await TokenServer()
        let signIn = SignIn(
            authorization: try server.address("/authorize/ok"), endpoint: try server.endpoint("code/300"),
            open: { _ in throw TestFailure("no browser") })
        await expect(signIn) { if case .noBrowser = $0 { true } else { false } }
    }

    @BrokerActor @Test func aCodeThatIsNotTakenStoresNothing() async throws {
        let (stage, server) = (try await TokenStage(), try await TokenServer())
        try await stage.store("AT0", "RT0", endingIn: 300)
        let signIn = try signIn(server, "ok", exchange: "status/400", Browser())
        await #expect {
            try await signIn.run(into: stage.vault(), account: "alice")
        } throws: {
            if case SignInError.server(.refused(status: 400, code: "invalid_grant")) = $0 {
                true
            } else {
                false
            }
        }
        #expect(text(try await stage.stored().accessToken) == "AT0")
    }

    /// Who has read the state from the arguments brings a code of their own: it was made for another challenge.
    @BrokerActor @Test func aCodeThatSomebodyElseAskedForIsWorthNothing() async throws {
        let (server, browser) = (try await TokenServer(), Browser("inject"))
        await expect(try signIn(server, "ok", browser)) {
            if case .server(.refused(status: 400, code: "invalid_grant")) = $0 { true } else { false }
        }
        #expect(await server.end().last == "authorization_code - app")
    }

    @BrokerActor @Test func aSignInThatIsCancelledEnds() async throws {
        let (stage, server, opened) = (try await TokenStage(), try await TokenServer(), Mailbox<Void>())
        let signIn = SignIn(
            authorization: try server.address("/authorize/ok"), endpoint: try server.endpoint("code/300"),
            open: { _ in opened.post(()) })
        let task = Task { try await signIn.run(into: stage.vault(), account: "alice") }
        try await opened.next("the browser")
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    /// Who is not the browser gets nothing: no page that says what was sent, no end of the sign-in, nobody's place.
    @BrokerActor @Test func strangersAtThePortAreInNobodysWay() async throws {
        let (stage, server, browser) = (try await TokenStage(), try await TokenServer(), Browser("strangers"))
        let tokens = try await signIn(server, "ok", browser).run(
            into: stage.vault(), account: "alice")
        #expect(text(tokens.accessToken) == "AT1")
        var lines: [String] = []
        for _ in 0..<11 { lines.append(try await browser.said.next("an answer")) }
        #expect(
            lines.dropLast() == [
                "GET 400", "GET 400", "GET 404", "POST 405", "GET 400", "GET 400", "GET 400", "GET 400",
                "sentinel 400", "GET 431",
            ])
        #expect(lines.last?.hasPrefix("200 ") == true)
        #expect(await server.end().count == 2)
    }

    private func expect(_ signIn: SignIn, _ isExpected: (SignInError) -> Bool) async {
        do {
            _ = try await signIn.tokens()
            Issue.record("it succeeded")
        } catch let error as SignInError {
            #expect(isExpected(error), "\(error)")
        } catch {
            Issue.record("another error: \(error)")
        }
    }
}
