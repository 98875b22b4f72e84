import BrokerModel
import Foundation
import Sodium
import Testing
import TestKit

@testable import BrokerVault

/// What a reader of the files, or of the memory after a lock, learns.
@Suite(.serialized) struct PlaintextTests {
    private static let words = [
        "SECRETWORD", "ACCOUNTWORD", "SERVICEWORD", "LABELWORD", "SERVERWORD", "OTHERSECRET", "PASSCODEWORD",
    ]

    private func find(_ word: [UInt8], in bench: Bench) throws -> [String] {
        let folder = bench.folder.path
        return try FileManager.default.contentsOfDirectory(atPath: folder).filter { name in
            try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name)).range(of: Data(word)) != nil
        }
    }

    @VaultActor @Test func noSecretAndNoAttributeIsInAnyFile() async throws {
        let bench = try Bench()
        try await bench.setPasscode("PASSCODEWORD")
        for accessible in [Accessibility.whenUnlocked, .afterFirstUnlock] {
            try await bench.add(
                .item("ACCOUNTWORD\(accessible.name)", service: "SERVICEWORD", accessible: accessible).adding(
                    "Label", "LABELWORD"), "SECRETWORD")
        }
        try await bench.add(
            WireDictionary(["Class": "internet-password", "Server": "SERVERWORD", "Account": "ACCOUNTWORD"]),
            "SECRETWORD")
        try await bench.update(.query(nil, service: "SERVICEWORD"), ["Comment": "LABELWORD"], "OTHERSECRET")
        try await bench.logout("SERVICEWORD")
        bench.restart()
        try await bench.logout("SERVICEWORD")
        for word in Self.words { #expect(try find(Array(word.utf8), in: bench) == [], "\(word)") }
        #expect(try find(Array("SQLite format".utf8), in: bench) == ["keychain.db"])
    }

    /// B018: nothing of what was deleted is left, not even sealed.
    @VaultActor @Test func whatWasDeletedLeavesTheFilesWithTheNextCheckpoint() async throws {
        let bench = try Bench()
        try await bench.add(.item(), String(repeating: "s", count: 3000))
        let row = try #require(try bench.vault.openStore().reading.background.row(1, withSecret: true))
        let pieces = [
            Array(row.secret[200..<232]), Array(row.attributes.suffix(32)), row.header.primaryToken,
        ]
        for piece in pieces { #expect(try !find(piece, in: bench).isEmpty) }
        try await bench.delete(.query())
        #expect(bench.vault.needsCheckpoint)
        await bench.vault.checkpoint()
        #expect(!bench.vault.needsCheckpoint)
        for piece in pieces { #expect(try find(piece, in: bench) == []) }
    }

    private static let mask: UInt8 = 0x5a

    @VaultActor @Test func afterALockNoForegroundKeyIsInMemory() async throws {
        let bench = try Bench()
        try await bench.setPasscode("1234")
        try await bench.add(.item(accessible: .whenUnlocked), "x")
        let masked = try #require(bench.vault.keyring.foreground).keys.flatMap { key in
            [mask(key.metadata.bytes), mask(key.secrets.bytes)]
        }
        #expect(masked.count == 6)
        for key in masked { #expect(try await MemoryScan.count(masked: [key], mask: Self.mask) > 0) }
        try bench.lock()
        for key in masked { #expect(try await MemoryScan.count(masked: [key], mask: Self.mask) == 0) }
        #expect(bench.vault.keyring.background != nil)
    }

    @VaultActor @Test func afterASecretWasReadItIsInMemoryNoMore() async throws {
        let bench = try Bench()
        // Never in clear but in secret memory: the test knows it masked.
        let masked = (0..<48).map { UInt8(truncatingIfNeeded: $0 * 37 + 11) }
        let who = Who.one
        _ = try await bench.vault.add(
            { () throws(Refusal) in who.grant() }, NewItem(.item(), for: .add, now: bench.clock),
            IncomingSecret(
                SharedSecret(
                    Secret(count: 48) { target in
                        for index in 0..<48 { target[index] = masked[index] ^ Self.mask }
                    })))
        do {
            let item = try bench.read(.query())
            #expect(item.secret.secret.count == 48)
            #expect(try await MemoryScan.count(masked: [masked], mask: Self.mask) == 1)
        }
        #expect(try await MemoryScan.count(masked: [masked], mask: Self.mask) == 0)
    }

    private func mask(_ secret: borrowing Secret) -> [UInt8] {
        var bytes: [UInt8] = []
        for index in 0..<secret.count { bytes.append(secret.span[index] ^ Self.mask) }
        return bytes
    }
}
