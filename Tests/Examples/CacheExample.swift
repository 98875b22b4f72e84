import Chatelaine

/// A key that is fetched once, and shared with the group's other programs.
@Sendable func cacheExample() async throws {
    let vault = CredentialVault(service: "https://mail.example", group: "org.example.mail")
    let cache = RuntimeSecretCache(vault, lifetime: .seconds(300))
    for _ in 1...2 {
        let key = try await cache.secret(account: "api key") {
            print("fetched")
            return FetchedSecret(Secret("k-1234"), lifetime: .seconds(3600))
        }
        print("a key of \(key.secret.count) bytes")
    }
}
