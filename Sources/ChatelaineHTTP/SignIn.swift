public import Chatelaine
internal import SDBus
internal import Sodium

/// Sign-in for a native app: the user's own browser goes to the authorization server and comes back to this machine with
/// a code, which is exchanged for tokens (RFC 8252, with PKCE after RFC 7636). The app sees no password, and no other
/// program can use the code.
public struct SignIn: Sendable {
    /// Opens an address for the user. It runs off the broker's loop.
    public typealias Opener = @concurrent @Sendable (String) async throws -> Void

    private let authorization: HTTPAddress
    private let endpoint: TokenEndpoint
    private let scope: String?
    private let redirectPath: String
    private let timeout: Duration
    private let open: Opener

    /// Makes one.
    /// - Parameters:
    ///   - authorization: the page to open. It may have a query of its own.
    ///   - endpoint: where the code is exchanged.
    ///   - scope: what is asked for; nil for what the server gives then.
    ///   - redirectPath: as the program is registered, `http://127.0.0.1/…`; the port is another one each time.
    ///   - timeout: for the person in front of the browser.
    ///   - open: opens the browser.
    public init(
        authorization: HTTPAddress, endpoint: TokenEndpoint, scope: String? = nil, redirectPath: String = "/",
        timeout: Duration = .seconds(300), open: @escaping Opener = { try await Browser.open($0) }
    ) {
        self.authorization = authorization
        self.endpoint = endpoint
        self.scope = scope
        self.redirectPath = redirectPath
        self.timeout = timeout
        self.open = open
        BrokerActor.shared.loop.startThread()
    }

    /// Signs in, and stores the tokens as the account's one item: another is replaced, and a refresh of it that is going on
    /// comes too late.
    ///
    /// It throws ``SignInError``, and `CancellationError` when the task is cancelled.
    @discardableResult public func run(
        into vault: CredentialVault, account: String, label: String? = nil
    ) async throws -> SessionTokens {
        let tokens = try await tokens()
        do throws(VaultError) {
            try await vault.store(tokens, account: account, label: label)
        } catch {
            throw SignInError.vault(error)
        }
        return tokens
    }

    /// Signs in and stores nothing, for a program that keeps the tokens itself.
    @BrokerActor public func tokens() async throws -> SessionTokens {
        let (proof, state) = (ProofKey(), Base64URL.random())
        let listener = try RedirectListener(
            path: redirectPath, state: state, timeoutMicroseconds: timeout.microseconds)
        let redirect = listener.address
        let address = self.address(proof, Text.string(state)!, redirect)
        let open = open
        // Bare, so that it does not prefer the loop, which a browser that is slow to start would hold up.
        Task {
            do { try await open(address) } catch { listener.finish(.failure(SignInError.noBrowser)) }
        }
        let code = try await listener.code()
        let asked = EventClock.realtime.now
        do throws(TokenServerError) {
            let response = try await endpoint.exchange(code, verifier: proof.verifier, redirect: redirect)
            return SessionTokens(response, asked: asked)
        } catch {
            throw SignInError.server(error)
        }
    }

    private func address(_ proof: ProofKey, _ state: String, _ redirect: String) -> String {
        var fields = [
            ("response_type", "code"), ("client_id", endpoint.clientID), ("redirect_uri", redirect),
            ("state", state), ("code_challenge", proof.challenge), ("code_challenge_method", "S256"),
        ]
        if let scope { fields.append(("scope", scope)) }
        let query = fields.map { "\($0)=\(Form.escaped($1))" }.joined(separator: "&")
        return authorization.text + (authorization.text.contains("?") ? "&" : "?") + query
    }
}
