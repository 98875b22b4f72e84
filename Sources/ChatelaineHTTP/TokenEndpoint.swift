public import Chatelaine
public import Sodium

/// A token server, as one program that is registered there uses it (RFC 6749).
public struct TokenEndpoint: Sendable {
    /// Where it is asked.
    public let address: HTTPAddress
    /// The program's name there.
    public let clientID: String
    private let clientSecret: SharedSecret?
    private let transport: any HTTPTransport

    /// Makes one.
    /// - Parameter clientSecret: for servers that want one of a native app, where it is none: everybody has the app.
    public init(
        _ address: HTTPAddress, clientID: String, clientSecret: SharedSecret? = nil,
        transport: any HTTPTransport = CurlTransport()
    ) {
        self.address = address
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.transport = transport
    }

    /// New tokens for a refresh token (RFC 6749, section 6): what a ``RefreshGate`` is to call.
    @concurrent public func refresh(
        _ refreshToken: SharedSecret
    ) async throws(TokenServerError) -> TokenResponse {
        var form = Form()
        form.append("grant_type", "refresh_token")
        form.append("refresh_token", refreshToken)
        return try await post(form)
    }

    /// Tokens for the code that came by a redirect (RFC 6749, section 4.1.3; RFC 7636, section 4.5).
    @concurrent func exchange(
        _ code: SharedSecret, verifier: SharedSecret, redirect: String
    ) async throws(TokenServerError) -> TokenResponse {
        var form = Form()
        form.append("grant_type", "authorization_code")
        form.append("code", code)
        form.append("redirect_uri", redirect)
        form.append("code_verifier", verifier)
        return try await post(form)
    }

    private func post(_ grant: Form) async throws(TokenServerError) -> TokenResponse {
        var form = grant
        form.append("client_id", clientID)
        if let clientSecret { form.append("client_secret", clientSecret) }
        let answer = try await transport.post(form.encoded, to: address)
        let body = TokenBody(answer.body)
        guard (200...299).contains(answer.status) else {
            throw .refused(status: answer.status, code: body?.errorCode)
        }
        guard let response = body?.response else { throw .unreadable }
        return response
    }
}
