internal import SDBus

extension CredentialVault {
    /// Stores session tokens as the account's one item, in place of what was there. A refresh of it that is going on
    /// comes too late then. Returns the revision.
    @discardableResult
    public func store(
        _ tokens: SessionTokens, account: String, label: String? = nil
    ) async throws(VaultError) -> UInt64 {
        var attributes = attributes(account, label: label)
        for entry in tokens.attributes(at: EventClock.realtime.now).entries {
            attributes[entry.key] = entry.value
        }
        let (stored, secret) = (attributes, tokens.encoded())
        return try await link.call { (broker) throws(ChatelaineError) in
            try await broker.store(stored, secret).revision
        }
    }

    /// The account's session tokens as they are stored, fresh or not; `damaged` where something else is. For a token to
    /// use, ask a ``RefreshGate``.
    public func tokens(account: String) async throws(VaultError) -> SessionTokens {
        let item = try await item(account)
        do throws(ChatelaineError) {
            return try SessionTokens(encoded: item.secret)
        } catch {
            throw VaultError(error)
        }
    }
}
