import Chatelaine
import SDBus
import TestKit
import Testing

/// What a failure is called, and that it says nothing of what it is about.
@Suite struct VaultErrorTests {
    private static let account = "canary-account"
    private static let content = "canary-content"

    /// B053, B054: a lock is no absence, and before the first unlock is said apart.
    @Test func aLockIsNoAbsence() async throws {
        let stage = try await BrokerStage()
        let (foreground, background) = (stage.vault(), stage.vault("https://sync", class: .afterFirstUnlock))
        for vault in [foreground, background] {
            try await vault.store(Secret(Self.content), account: Self.account)
        }
        try await stage.setPasscode()
        try await stage.lock()
        try await expect("locked", foreground)
        #expect(try await text(background, Self.account) == Self.content)
        #expect(
            await failure { try await foreground.store(Secret("x"), account: Self.account) }?.name == "locked"
        )
        try await stage.crash()
        for vault in [foreground, background] {
            try await expect("beforeFirstUnlock", vault)
            #expect(await failure { try await vault.removeAll() }?.name == "beforeFirstUnlock")
        }
        #expect(await failure { try await foreground.read(account: "nobody") }?.name == "beforeFirstUnlock")
        try await stage.unlock()
        for vault in [foreground, background] { #expect(try await text(vault, Self.account) == Self.content) }
    }

    @Test func whatIsDamagedIsNotAbsent() async throws {
        let stage = try await BrokerStage()
        let vault = stage.vault()
        try await vault.store(Secret(Self.content), account: Self.account)
        try await stage.damageSecrets()
        try await expect("damaged", vault)
        #expect(try await vault.accounts() == [Self.account])
    }

    @Test func aGroupOfOthersIsNotEntitled() async throws {
        let stage = try await BrokerStage()
        for group in ["org.example.others", "*", ""] {
            let vault = stage.vault(group: group)
            try await expect("notEntitled", vault)
            #expect(
                await failure { try await vault.store(Secret(Self.content), account: Self.account) }?.name
                    == "notEntitled")
        }
    }

    @Test func aFullGroupAndALongSecret() async throws {
        let stage = try await BrokerStage()
        let vault = stage.vault(group: "org.example.small")
        for account in ["one", "two"] { try await vault.store(Secret("x"), account: account) }
        let quota = await failure { try await vault.store(Secret(Self.content), account: Self.account) }
        #expect(quota?.name == "quota")
        saysNothing(quota)
        let long = [UInt8](repeating: 1, count: (1 << 20) + 1)
        #expect(await failure { try await vault.store(Secret(long), account: "one") }?.name == "tooLarge")
        #expect(try await text(vault, "one") == "x")
    }

    @Test func nobodyThereIsTheBrokerMissing() async throws {
        let stage = try await BrokerStage()
        let vault = stage.vault()
        try await vault.store(Secret(Self.content), account: Self.account)
        await stage.endBroker()
        try await expect("brokerMissing", vault)
        try await expect("brokerMissing", stage.vault(way: .direct))
        let nowhere = CredentialVault(
            service: "s", group: "g", at: .address("unix:path=" + stage.folder.entry("no bus")))
        try await expect("brokerMissing", nowhere)
        try await stage.startBroker()
        #expect(try await text(vault, Self.account) == Self.content)
    }

    private func expect(_ name: String, _ vault: CredentialVault) async throws {
        let error = await failure { try await vault.read(account: Self.account) }
        #expect(error?.name == name)
        saysNothing(error)
    }

    private func saysNothing(_ error: VaultError?) {
        for word in [Self.account, Self.content, "https://"] {
            #expect(error.map { "\($0) \(String(reflecting: $0))".contains(word) } == false)
        }
    }
}
