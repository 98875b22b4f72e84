import Chatelaine
import ChatelaineFoundation
import Foundation

/// A key of Foundation's kind, as those of swift-crypto are.
struct DraftsKey: DataKeyMaterial {
    struct NotAKey: Error {}
    let rawRepresentation: Data

    init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {
        let data = unsafe rawRepresentation.withUnsafeBytes { unsafe Data($0) }
        guard data.count == 32 else { throw NotAKey() }
        self.rawRepresentation = data
    }
}

/// Stores a key and reads it back as one.
@Sendable func keyExample() async throws {
    let vault = CredentialVault(service: "https://mail.example", group: "org.example.mail")
    let key = try DraftsKey(rawRepresentation: Data(repeating: 7, count: 32))
    try await vault.store(key, account: "drafts")
    let same = try await vault.read(DraftsKey.self, account: "drafts")
    print("the same key: \(same.rawRepresentation == key.rawRepresentation)")
}
