import Chatelaine

/// Stores a password, reads it as soon as nothing is locked, and signs out.
@Sendable func vaultExample() async throws {
    let password = "correct horse"
    let vault = CredentialVault(
        service: "https://mail.example", group: "org.example.mail", accessibility: .afterFirstUnlock)
    try await vault.store(Secret(password), account: "alice")
    do {
        let secret = try await vault.read(account: "alice", waitingForUnlock: .seconds(30))
        print("logging in with \(secret.count) bytes")  // secret.span: the bytes, in locked memory
    } catch {
        switch error {
        case .notFound: print("sign in")
        case .locked, .beforeFirstUnlock: print("still locked")
        default: print("say so: \(error)")
        }
    }
    print("accounts: \(try await vault.accounts())")
    try await vault.logOut(reason: "signed out")  // tells every program of the group
}
