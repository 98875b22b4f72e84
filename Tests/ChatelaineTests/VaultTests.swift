import SDBus
import TestKit
import Testing

@testable import Chatelaine

/// ``CredentialVault`` against a real broker.
@Suite struct VaultTests {
    @Test(arguments: BrokerStage.Way.allCases)
    func aSecretIsStoredReadAndRemoved(way: BrokerStage.Way) async throws {
        let stage = try await BrokerStage()
        let vault = stage.vault(way: way)
        let bytes = (0...255).map { UInt8($0) }
        let first = try await vault.store(Secret(bytes), account: "alice")
        #expect(try await vault.read(account: "alice").bytes() == bytes)
        let second = try await vault.store(Secret("łuż"), account: "alice")
        #expect(second > first)
        #expect(try await text(vault, "alice") == "łuż")
        #expect(try await vault.remove(account: "alice"))
        #expect(try await !vault.remove(account: "alice"))
        #expect(await failure { try await vault.read(account: "alice") }?.name == "notFound")
    }

    /// B006: an empty secret is stored, found and read.
    @Test func anEmptySecretIsNotNone() async throws {
        let stage = try await BrokerStage()
        let vault = stage.vault()
        try await vault.store(Secret(""), account: "alice")
        #expect(try await vault.read(account: "alice").count == 0)
        #expect(try await vault.accounts() == ["alice"])
    }

    /// B051, B019: no call reaches beyond the service and the group that the vault names.
    @Test func everythingIsWhatIsInThisServiceAndGroup() async throws {
        let stage = try await BrokerStage()
        let (vault, other) = (stage.vault(), stage.vault("https://other.example"))
        let suite = stage.vault(group: "org.example.suite")
        for account in ["alice", "bob", ""] { try await vault.store(Secret("x"), account: account) }
        for neighbour in [other, suite] { try await neighbour.store(Secret("y"), account: "alice") }
        #expect(try await vault.accounts() == ["alice", "bob", ""])
        #expect(try await vault.removeAll() == 3)
        #expect(try await vault.removeAll() == 0)
        #expect(try await text(other, "alice") == "y")
        #expect(try await text(suite, "alice") == "y")
    }

    /// B130, B131: one call, all accounts, whatever their class and whether locked or not; one signal.
    @Test func aSignOutRemovesWhatIsLockedAndTellsOnce() async throws {
        let stage = try await BrokerStage()
        let (vault, background) = (stage.vault(), stage.vault(class: .afterFirstUnlock))
        for account in ["alice", "bob", "carol", "dave"] {
            try await vault.store(Secret("x"), account: account)
        }
        try await background.store(Secret("y"), account: "eve")
        try await stage.setPasscode()
        try await stage.lock()
        var events = vault.events().makeAsyncIterator()
        _ = try await events.next()
        #expect(try await vault.logOut(reason: "signed out") == 1)
        guard case .loggedOut(let logout) = try await events.next() else { throw TestFailure("no logout") }
        #expect(logout.reason == "signed out" && logout.concerns(service: vault.service))
        #expect(await failure { try await vault.read(account: "alice") }?.name == "notFound")
        #expect(try await vault.accounts() == [])
        try await stage.unlock()
        #expect(try await events.next() == .lockState(.unlocked))
    }

    /// B174, B022: the class is no part of what is looked for, and a store moves an item to another in one step.
    @Test func anotherClassIsFoundAndMoved() async throws {
        let stage = try await BrokerStage()
        let (old, new) = (stage.vault(class: .whenUnlocked), stage.vault(class: .afterFirstUnlock))
        try await old.store(Secret("one"), account: "alice")
        #expect(try await text(new, "alice") == "one")
        try await new.store(Secret("two"), account: "alice")
        try await stage.setPasscode()
        try await stage.lock()
        #expect(try await text(old, "alice") == "two")
        #expect(try await new.accounts() == ["alice"])
    }

    @Test(arguments: BrokerStage.Way.allCases)
    func aRestartOfTheBrokerIsNoError(way: BrokerStage.Way) async throws {
        let stage = try await BrokerStage()
        let vault = stage.vault(way: way)
        try await vault.store(Secret("one"), account: "alice")
        for _ in 1...2 {
            try await stage.crash()
            #expect(try await text(vault, "alice") == "one")
        }
        try await stage.crash()
        try await vault.store(Secret("two"), account: "alice")
        #expect(try await text(vault, "alice") == "two")
    }

    @Test func aClassIsListedAndRemovedAlone() async throws {
        let stage = try await BrokerStage()
        let (vault, background) = (stage.vault(), stage.vault(class: .afterFirstUnlock))
        try await vault.store(Secret("x"), account: "alice")
        try await background.store(Secret("y"), account: "eve")
        #expect(try await vault.accounts(of: .afterFirstUnlock) == ["eve"])
        #expect(try await vault.removeAll(of: .afterFirstUnlock) == 1)
        #expect(try await vault.accounts() == ["alice"])
    }

    /// B033: a broker cannot be shown what made a connection that is older than it, and such a connection is worth less
    /// to it. So the library connects anew, and only then.
    @Test func aRestartCostsNoTrust() async throws {
        let stage = try await BrokerStage()
        let vault = stage.vault()
        var names: [String?] = []
        for _ in 1...3 {
            _ = try await vault.accounts()
            names.append(await connectionName(vault))
            _ = try await vault.accounts()
            #expect(await connectionName(vault) == names.last)
            try await stage.crash()
        }
        #expect(Set(names).count == 3 && !names.contains(nil))
    }

    @BrokerActor private func connectionName(_ vault: CredentialVault) async -> String? {
        try? await vault.link.call { (broker) throws(ChatelaineError) in broker.connection.uniqueName }
    }

    @Test func manyAtOnceSurviveARestart() async throws {
        let stage = try await BrokerStage()
        let vault = stage.vault()
        try await vault.store(Secret("one"), account: "alice")
        try await stage.crash()
        let texts = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 1...20 { group.addTask { try await text(vault, "alice") } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(texts == Array(repeating: "one", count: 20))
    }

    /// The vault's thread runs the loop; the program's main thread, which is lent to it too, waits for its end.
    @Test func aProgramMayLendItsOwnThread() async throws {
        let stage = try await BrokerStage()
        let client = try await stage.startClient([stage.bus.address, "run", "7"])
        #expect(try await within("the answer") { await client.output.next() } == "[]")
        #expect(try await within("the end") { await client.waitForExit() } == .exited(7))
    }
}
