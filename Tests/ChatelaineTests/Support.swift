import Chatelaine
import Foundation
import SDBus
import SQLite
import TestKit
import Testing

extension BrokerStage {
    /// Where the broker is: behind the bus, or directly.
    enum Way: CaseIterable, Sendable {
        case bus, direct
    }

    func endpoint(_ way: Way = .bus) -> Endpoint { .address(way == .bus ? bus.address : directAddress) }

    func vault(
        _ service: String = "https://mail.example", group: String = "org.example.client",
        class accessibility: Accessibility = .whenUnlocked, way: Way = .bus
    ) -> CredentialVault {
        CredentialVault(service: service, group: group, accessibility: accessibility, at: endpoint(way))
    }

    /// What the user does: another connection.
    @BrokerActor func user() throws -> Broker { try Broker.connect(to: endpoint()) }

    static var passcode: SharedSecret { SharedSecret(Secret("correct horse")) }

    @BrokerActor func setPasscode() async throws {
        try await user().setPasscode(old: nil, new: Self.passcode)
    }

    @BrokerActor func lock() async throws { try await user().lock() }

    @BrokerActor func unlock() async throws { try await user().unlock(Self.passcode) }

    /// Overwrites every sealed secret on the disk, with the broker stopped meanwhile.
    func damageSecrets() async throws {
        await endBroker()
        do {
            let database = try Database(path: try storePath(), mode: .readWrite)
            for table in ["background_items", "foreground_items"] {
                try database.execute("UPDATE \(table) SET secret = zeroblob(length(secret))")
            }
        }
        try await startBroker()
    }

    private func storePath() throws -> String {
        let state = folder.entry("state")
        for name in FileManager.default.enumerator(atPath: state)?.compactMap({ $0 as? String }) ?? [] {
            let file = FileHandle(forReadingAtPath: "\(state)/\(name)")
            if try file?.read(upToCount: 13) == Data("SQLite format".utf8) { return "\(state)/\(name)" }
        }
        throw TestFailure("no store below \(state)")
    }
}

/// The error that a call ends with; nil where it ends well.
@BrokerActor func failure<Value: ~Copyable>(
    _ body: @BrokerActor () async throws -> Value
) async -> VaultError? {
    do {
        _ = try await body()
        return nil
    } catch {
        #expect(error is VaultError)
        return error as? VaultError
    }
}

/// The text of an account's secret.
@BrokerActor func text(_ vault: CredentialVault, _ account: String) async throws(VaultError) -> String? {
    try await vault.read(account: account).text()
}

extension VaultError {
    /// The case's name.
    var name: String {
        Mirror(reflecting: self).children.first?.label ?? "\(self)"
    }
}
