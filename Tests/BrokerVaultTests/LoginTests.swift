@_spi(Testing) import BrokerGate
import BrokerModel
import Sodium
import Testing

@testable import BrokerVault

/// The passcode follows the password that the user logs in with.
@Suite struct LoginTests {
    private let bench: Bench

    init() async throws {
        bench = try await Bench()
        try await bench.setPasscode("1234")
        try await bench.add(.item(accessible: .whenUnlocked), "x")
    }

    @VaultActor private func follow(_ passcode: String) async throws(Refusal) {
        try await bench.vault.followPasscode(.forTesting(.root), SharedSecret(passcode))
    }

    @VaultActor private func logIn(_ passcode: String) async throws(Refusal) {
        try await bench.vault.unlock(.forTesting(.root), SharedSecret(passcode))
    }

    @VaultActor @Test func theKeysToWrapByAreThereForAsLongAsTheForegrounds() async throws {
        #expect(bench.vault.keyring.opened != nil)
        try bench.lock()
        #expect(bench.vault.keyring.opened == nil)
        #expect(await refusal { () throws(Refusal) in try await follow("new") } == .interactionNotAllowed)
        try await bench.unlock()
        #expect(bench.vault.keyring.opened != nil && bench.vault.isOutOfStep)
    }

    @VaultActor @Test(arguments: [false, true])
    func theRecoveryKeyStillOpensIt(_ withSession: Bool) async throws {
        let key = try await bench.createRecoveryKey()
        if withSession {
            bench.vault.unlocksWithSession = true
            try bench.lock()
            try await bench.unlock()
            _ = bench.lockForNobody()
            await bench.unlockWithSession()
        }
        try await follow("new")
        #expect(!bench.vault.isOutOfStep)
        bench.restart()
        #expect(await refusal { () throws(Refusal) in try await bench.unlock() } == .authFailed)
        try await bench.unlock("new")
        try await bench.recover(key, "newer")
        #expect(try bench.secrets(.query()) == ["x"])
    }

    @VaultActor @Test func aRecoveryKeyThatIsGoneDoesNotComeBack() async throws {
        _ = try await bench.createRecoveryKey()
        try await bench.removeRecoveryKey()
        try await follow("new")
        #expect(!bench.vault.isRecoveryKeySet)
        bench.restart()
        try await bench.unlock("new")
        #expect(try bench.secrets(.query()) == ["x"])
    }

    /// Another broker has made a recovery key in this store meanwhile, or an older file was put back.
    @VaultActor @Test func aSlotOfOtherKeysIsLeftAsItIs() async throws {
        let opened = try #require(bench.vault.keyring.opened)
        _ = try await bench.createRecoveryKey()
        bench.vault.keyring.note(rewrapped: opened)
        #expect(await refusal { () throws(Refusal) in try await follow("new") } == .interactionNotAllowed)
        bench.restart()
        try await bench.unlock()
        #expect(bench.vault.isRecoveryKeySet && bench.vault.isOutOfStep)
    }

    /// One that was mistyped changes nothing in the file; that the two are out of step is forgotten with the next.
    @VaultActor @Test func aWrongPasswordAtTheLoginIsToldOfAndNotKept() async throws {
        bench.restart()
        #expect(await refusal { () throws(Refusal) in try await logIn("hunter1") } == .authFailed)
        #expect(bench.vault.isOutOfStep)
        bench.restart()
        try bench.vault.open()
        #expect(!bench.vault.isOutOfStep)
        #expect(await refusal { () throws(Refusal) in try await logIn("hunter1") } == .authFailed)
        try await bench.unlock()
        #expect(bench.vault.isOutOfStep)
        try await logIn("1234")
        #expect(!bench.vault.isOutOfStep)
        #expect(bench.pauses.isEmpty)
    }

    /// Whoever else mistypes says nothing about the login.
    @VaultActor @Test func aWrongPasscodeOfAProgramsIsNoneOfTheLogins() async throws {
        try bench.lock()
        #expect(await refusal { () throws(Refusal) in try await bench.unlock("wrong") } == .authFailed)
        #expect(!bench.vault.isOutOfStep)
    }

    @VaultActor @Test func withoutAPasscodeThereIsNothingToFollow() async throws {
        try await bench.removePasscode("1234")
        #expect(await refusal { () throws(Refusal) in try await follow("new") } == .notAvailable)
        #expect(!bench.vault.isPasscodeSet && !bench.vault.isOutOfStep)
    }
}
