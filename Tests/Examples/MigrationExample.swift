import Chatelaine

/// Moves a secret into the form of a new version of the program.
@Sendable func migrationExample() async throws {
    let vault = CredentialVault(service: "https://mail.example", group: "org.example.mail")
    let (old, new) = (AccountName("alice", version: 1), AccountName("alice", version: 2))
    try await vault.store(Secret("token"), account: old.stored)
    let outcome = try await vault.migrate(from: old, to: new) { (secret) throws(VaultError) in
        Secret("v2:" + (secret.text() ?? ""))
    }
    print("\(outcome): \(try await vault.accounts())")
}
