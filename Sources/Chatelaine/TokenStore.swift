public import Sodium

/// One token, for a program that wants it or nothing: save, get, delete. Whatever goes wrong, a lock included, means that
/// there is no token; ``CredentialVault`` says why.
public struct TokenStore: Sendable {
    private let vault: CredentialVault
    private let account: String

    /// The token of an account in a vault.
    public init(_ vault: CredentialVault, account: String = "token") {
        self.vault = vault
        self.account = account
    }

    /// Saves the token in place of the one before. False where that failed: the one before is then still there.
    @discardableResult
    public func save(_ token: consuming Secret) async -> Bool {
        let token = SharedSecret(token)
        return (try? await vault.put(token, account: account)) != nil
    }

    /// The token, or nil.
    public func get() async -> Secret? {
        try? await vault.read(account: account)
    }

    /// Deletes the token. False where that failed; true also where there was none.
    @discardableResult
    public func delete() async -> Bool {
        (try? await vault.remove(account: account)) != nil
    }
}
