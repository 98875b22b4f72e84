public import Chatelaine
#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif
internal import Sodium

/// Key material in Foundation's terms. The keys of swift-crypto conform as they are:
/// `extension Curve25519.Signing.PrivateKey: @retroactive DataKeyMaterial {}`.
public protocol DataKeyMaterial: Sendable {
    /// The key that these bytes are; throws where they are none.
    init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws
    /// The key's bytes, in memory that nothing wipes.
    var rawRepresentation: Data { get }
}

extension CredentialVault {
    /// Stores the key under the account, in place of what was there.
    @discardableResult
    public func store(
        _ key: some DataKeyMaterial, account: String, label: String? = nil
    ) async throws(VaultError) -> UInt64 {
        try await store(Secret(key.rawRepresentation), account: account, label: label)
    }

    /// The account's key. Bytes that are none are `damaged`.
    public func read<Key: DataKeyMaterial>(
        _ type: Key.Type, account: String
    ) async throws(VaultError) -> Key {
        try await read(DataKey<Key>.self, account: account).key
    }
}

/// Data key material as key material.
private struct DataKey<Key: DataKeyMaterial>: KeyMaterial, Sendable {
    let key: Key

    init(rawRepresentation secret: borrowing Secret) throws {
        key = try Key(rawRepresentation: secret.data())
    }

    var rawRepresentation: Secret { Secret(key.rawRepresentation) }
}
