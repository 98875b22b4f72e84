public import Sodium

/// A key, or anything else that is made of secret bytes and gives them back: what a vault stores as it is.
///
/// A type of Foundation's kind (`init(rawRepresentation: some ContiguousBytes)`, `rawRepresentation: Data`), as those of
/// swift-crypto are, conforms to `DataKeyMaterial` of the library `ChatelaineFoundation` and needs nothing else.
public protocol KeyMaterial {
    /// The key that these bytes are; throws where they are none.
    init(rawRepresentation: borrowing Secret) throws
    /// The key's bytes.
    var rawRepresentation: Secret { get }
}

extension CredentialVault {
    /// Stores the key under the account, in place of what was there.
    @discardableResult
    public func store(
        _ key: some KeyMaterial & Sendable, account: String, label: String? = nil
    ) async throws(VaultError) -> UInt64 {
        try await store(key.rawRepresentation.duplicate(), account: account, label: label)
    }

    /// The account's key. Bytes that are none are `damaged`.
    public func read<Key: KeyMaterial & Sendable>(
        _ type: Key.Type, account: String
    ) async throws(VaultError) -> Key {
        let bytes = try await read(account: account)
        guard let key = try? Key(rawRepresentation: bytes) else {
            throw .damaged(ChatelaineError(.notThatKey))
        }
        return key
    }
}
