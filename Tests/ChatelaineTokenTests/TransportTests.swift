import Chatelaine
import ChatelaineHTTP
import TestKit
import Testing

/// Token requests to real web servers.
@Suite struct TransportTests {
    @Test(arguments: [
        "https://example.com/token", "https://example.com:8443/t?x=1", "http://127.0.0.1:8080/",
        "http://[::1]/t",
    ])
    func anAddressThatTokensMayGoTo(text: String) {
        #expect(HTTPAddress(text)?.text == text)
    }

    @Test(arguments: [
        "", "http://example.com/token", "http://localhost/", "http://127.0.0.1.example.com/",
        "http://127.0.0.2/",
        "ftp://127.0.0.1/", "file:///etc/passwd", "https://", "example.com", "https://user@example.com/",
        "https://u:p@example.com/", "https://example.com/#f", "https://example.com/ x",
        "https://example.com/\r\nX: y",
        "https://exämple.com/", "http://127.0.0.1@example.com/", "https:example.com",
    ])
    func anAddressThatTheyMayNot(text: String) {
        #expect(HTTPAddress(text) == nil)
    }

    @Test func tokensAreRefreshed() async throws {
        let server = try await TokenServer()
        let response = try await server.endpoint("rotate/300").refresh(secret("RT0"))
        #expect(text(response.accessToken) == "AT1" && text(response.refreshToken) == "RT1")
        #expect(response.lifetime == 300)
        #expect(try await server.request() == "refresh_token RT0 app")
        await expect(.refused(status: 400, code: "invalid_grant"), of: server, "rotate/300")
    }

    // B135: what is a dead grant, and what is only a bad day.
    @Test(arguments: [400, 401, 403, 404, 407, 408, 429, 500, 502, 503])
    func b135OnlyFourHundredAndFourHundredOneMeanADeadGrant(status: Int) async throws {
        let server = try await TokenServer()
        let error = TokenServerError.refused(status: status, code: "invalid_grant")
        await expect(error, of: server, "status/\(status)")
        #expect(error.isRejection == (status == 400 || status == 401))
        // The server's description, which may say anything, is nowhere.
        #expect(!"\(error)".contains("RT0"))
    }

    @Test func noRedirectIsFollowed() async throws {
        let server = try await TokenServer()
        await expect(.refused(status: 307, code: nil), of: server, "redirect")
        #expect(await server.end() == ["refresh_token RT0 app"])
    }

    @Test func anAnswerWithoutEndIsBrokenOff() async throws {
        let server = try await TokenServer()
        await expect(.unreachable("its answer is too large"), of: server, "large")
    }

    @Test func aSilentServerIsGivenUp() async throws {
        let server = try await TokenServer()
        let transport = CurlTransport(timeout: .milliseconds(300))
        await expectUnreachable {
            _ = try await server.endpoint("silent", transport: transport).refresh(secret("RT0"))
        }
        #expect(try await server.request() == "refresh_token RT0 app")
    }

    @Test func halfAnAnswerIsNone() async throws {
        let server = try await TokenServer()
        await expectUnreachable { _ = try await server.endpoint("broken").refresh(secret("RT0")) }
    }

    @Test func anotherPageInItsPlaceIsNoAnswer() async throws {
        let server = try await TokenServer()
        await expect(.unreadable, of: server, "text")
        #expect(!TokenServerError.unreadable.isRejection)
    }

    @Test func nobodyThereIsUnreachable() async throws {
        let server = try await TokenServer()
        _ = await server.end()
        await expectUnreachable { _ = try await server.endpoint("rotate/300").refresh(secret("RT0")) }
        #expect(!TokenServerError.unreachable("").isRejection)
    }

    @Test func aCertificateThatNobodyVouchesForIsRefused() async throws {
        let folder = try TemporaryFolder()
        let certificate = folder.entry("server.pem")
        let made = try await ChildProcess.start([
            "/usr/bin/python3", TokenServer.file("certificate.py"), certificate,
        ])
        #expect(await made.waitForExit() == .exited(0))
        let server = try await TokenServer(certificate: certificate)
        await expectUnreachable { _ = try await server.endpoint("rotate/300").refresh(secret("RT0")) }
        let trusting = CurlTransport(certificates: certificate)
        let response = try await server.endpoint("rotate/300", transport: trusting).refresh(secret("RT0"))
        #expect(text(response.accessToken) == "AT1")
        #expect(await server.end() == ["refresh_token RT0 app"])
    }

    private func expect(_ error: TokenServerError, of server: TokenServer, _ path: String) async {
        await #expect(throws: error) { _ = try await server.endpoint(path).refresh(secret("RT0")) }
    }

    private func expectUnreachable(_ body: () async throws -> Void) async {
        do {
            try await body()
            Issue.record("it was reached")
        } catch TokenServerError.unreachable {
            return
        } catch {
            Issue.record("another error: \(error)")
        }
    }
}
