public import Chatelaine
internal import ChatelaineHTTP
internal import Glibc
internal import SDBus
internal import Sodium

/// The mail service of the demo: a token server and a mailbox behind it, at the port that `DEMO_SERVER` names.
public struct MailService: Sendable {
    private let port: UInt16
    private let endpoint: TokenEndpoint

    /// Nil where the variable names no port.
    public init?() {
        guard let port = Environment.value(of: "DEMO_SERVER").flatMap({ UInt16($0) }),
            let address = HTTPAddress("http://127.0.0.1:\(port)/token")
        else { return nil }
        self.port = port
        endpoint = TokenEndpoint(address, clientID: "demo")
    }

    /// What keeps the account's token fresh, in this process and, through the broker, in all of them.
    ///
    /// `diesWithAnswer`: the program is killed in the worst moment, when the server has given the next tokens away and
    /// nobody has stored them.
    @BrokerActor public func gate(diesWithAnswer: Bool = false) -> RefreshGate {
        RefreshGate(MailAccount.token) { [endpoint] refreshToken in
            let response = try await endpoint.refresh(refreshToken)
            if diesWithAnswer { raise(SIGKILL) }
            return response
        }
    }

    /// Asks for the mail. A token that the service does not take is renewed, once.
    @BrokerActor public func inbox(_ gate: RefreshGate) async throws -> String {
        let token = try await gate.validAccessToken()
        if let inbox = await mail(token) { return inbox }
        let next = try await gate.validAccessToken(insteadOf: token)
        return await mail(next) ?? "the service takes no token"
    }

    // Nil for 401. The name in front of a token's random part says which it is.
    private func mail(_ token: AccessToken) async -> String? {
        let access = token.secret.shown
        let headers = ["authorization": "\(token.type) \(access)"]
        guard let answer = await ask("GET", "/mail", headers), answer.words[1] == "200" else { return nil }
        let name = access.split(separator: "-").prefix(2).joined(separator: "-")
        return "3 messages, shown for \(name), revision \(token.revision)"
    }

    /// The first tokens, as a sign-in in a browser would end with them; nil where the service is away.
    public func signIn() async -> SessionTokens? {
        guard let answer = await ask("POST", "/sign-in") else { return nil }
        // The toy's strings have nothing that JSON would escape.
        let words = answer.text.split(separator: "\"").map(String.init)
        let value = { (name: String) in words.firstIndex(of: name).map { words[$0 + 2] } }
        guard let access = value("access_token"), let refresh = value("refresh_token") else { return nil }
        let now = EventClock.realtime.now
        return SessionTokens(
            TokenResponse(
                accessToken: SharedSecret(Secret(access)), refreshToken: SharedSecret(Secret(refresh)),
                lifetime: 300), asked: now)
    }

    /// Asks the service for something, and gives what it says.
    public func ask(
        _ method: String, _ path: String, _ headers: [String: String] = [:]
    ) async -> HTTPMessage? {
        let port = port
        return await WorkThread(name: "mail service").run {
            guard let socket = LoopbackSocket.connect(port: port) else { return nil }
            socket.send(HTTPMessage("\(method) \(path) HTTP/1.1", headers: headers).bytes)
            return HTTPMessage.receive(from: socket)
        }
    }
}
