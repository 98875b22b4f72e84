import Chatelaine

/// What a program does at its start.
@Sendable func launchExample() async throws {
    let vault = CredentialVault(service: "https://mail.example", group: "org.example.mail")
    switch await vault.launch(account: "alice") {
    case .ready(let secret): print("go on with \(secret.count) bytes")
    case .signIn: print("show the sign-in page")
    case .waitForUnlock: print("wait: read(account:waitingForUnlock:)")
    case .damaged(let error): print("say so and offer to sign in: \(error)")
    case .unavailable(let error): print("say so and try again: \(error)")
    }
}
