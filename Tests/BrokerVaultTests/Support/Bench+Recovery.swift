@_spi(Testing) import BrokerGate
import BrokerModel
import Sodium

@testable import BrokerVault

/// What a person does with a recovery key.
extension Bench {
    func createRecoveryKey(_ passcode: String = "1234") async throws(Refusal) -> RecoveryKey {
        try await vault.createRecoveryKey(.forTesting(), SharedSecret(passcode))
    }

    func removeRecoveryKey(_ passcode: String = "1234") async throws(Refusal) {
        try await vault.removeRecoveryKey(.forTesting(), SharedSecret(passcode))
    }

    func preview() throws(Refusal) -> RecoveryCount { try vault.previewRecovery(.forTesting()) }

    @discardableResult func recover(
        _ key: RecoveryKey, _ passcode: String = "new", accepting lost: UInt32 = .max
    ) async throws(Refusal) -> RecoveryCount {
        try await vault.recover(.forTesting(), key, passcode: SharedSecret(passcode), accepting: lost)
    }

    /// A passcode and an item of each class, each named after its class; then a recovery key.
    func makeRecoverable() async throws(Refusal) -> RecoveryKey {
        try await setPasscode("1234")
        for accessibility in Accessibility.allCases {
            try await add(
                .item(accessibility.name, accessible: accessibility), "of " + accessibility.name)
        }
        return try await createRecoveryKey()
    }

    /// The names of the items that can be read, and how many rows are damaged.
    func readable() async throws(Refusal) -> (names: Set<String>, damaged: UInt32) {
        var names: Set<String> = []
        for accessibility in Accessibility.allCases {
            let found = try secretsIfAny(.query(accessibility.name))
            if found == ["of " + accessibility.name] { names.insert(accessibility.name) }
        }
        return (names, try await check().damaged.values.reduce(0) { $0 + UInt32($1) })
    }

    private func secretsIfAny(_ query: WireDictionary) throws(Refusal) -> [String] {
        do throws(Refusal) {
            return try secrets(query)
        } catch {
            if error.kind == .itemNotFound { return [] }
            throw error
        }
    }

    /// What stands in the file.
    func slots() throws -> [Int64?] {
        [
            try number("SELECT count(*) FROM keybag_slots"),
            try number("SELECT count(*) FROM keybag_keys WHERE slot = 2"),
            try number("SELECT count(*) FROM keybag_keys WHERE purpose = 17"),
            try number("PRAGMA user_version"),
        ]
    }
}
