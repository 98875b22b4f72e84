import Chatelaine
import ChatelaineHTTP

/// Signs in by the browser where nobody is signed in, and has an access token for a service. Its argument is where the
/// server is, such as `https://auth.example`.
@Sendable func sessionExample() async throws {
    let server = CommandLine.arguments.last ?? ""
    guard let page = HTTPAddress(server + "/authorize/ok"),
        let tokens = HTTPAddress(server + "/token/code/300")
    else { return print("no address: \(server)") }
    let vault = CredentialVault(
        service: "https://mail.example", group: "org.example.mail", accessibility: .afterFirstUnlock)
    let endpoint = TokenEndpoint(tokens, clientID: "app")
    let gate = RefreshGate(vault, account: "alice") { try await endpoint.refresh($0) }
    do {
        let token = try await gate.validAccessToken()
        print("a \(token.type) token of \(token.secret.secret.count) bytes")
    } catch RefreshError.signInNeeded {
        let signIn = SignIn(authorization: page, endpoint: endpoint, scope: "mail")
        try await signIn.run(into: vault, account: "alice")
        print("signed in")
    }
    let token = try await gate.validAccessToken()
    print("revision \(token.revision) is good")
}
