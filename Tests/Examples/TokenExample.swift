import Chatelaine

/// One token, and no errors.
@Sendable func tokenExample() async throws {
    let vault = CredentialVault(service: "https://mail.example", group: "org.example.mail")
    let store = TokenStore(vault)
    await store.save(Secret("ya29.token"))
    if let token = await store.get() { print("a token of \(token.count) bytes") }
    await store.delete()
    if await store.get() == nil { print("no token") }
}
