import Glibc
import SDBus
import TestKit
import Testing

@testable import Chatelaine

/// The migration of an account's form: killed after each step, repeated, and played against others.
@Suite struct MigrationTests {
    private static let new = AccountName("alice", version: 2).stored

    private func vault(_ stage: BrokerStage) -> CredentialVault {
        stage.vault(group: "org.example.suite", class: .afterFirstUnlock)
    }

    private func migrate(_ stage: BrokerStage, killedAfter step: String = "") async throws -> String? {
        let client = try await stage.startClient([stage.bus.address, "migrate", step])
        return try await within("the migration") {
            let line = await client.output.next()
            let status = await client.waitForExit()
            return status == .signalled(9) ? "killed" : line
        }
    }

    /// The old secret or the new one can be read at every moment, and the next run finishes.
    @Test(arguments: CredentialVault.MigrationStep.allCases)
    func aKillAfterAnyStepLosesNothing(step: CredentialVault.MigrationStep) async throws {
        let stage = try await BrokerStage()
        let vault = vault(stage)
        try await vault.store(Secret("token"), account: "alice")
        #expect(try await migrate(stage, killedAfter: step.rawValue) == "killed")
        let accounts = try await vault.accounts()
        switch step {
        case .read: #expect(accounts == ["alice"])
        case .stored, .readBack: #expect(accounts == ["alice", Self.new])
        case .removed: #expect(accounts == [Self.new])
        }
        let outcome = try await migrate(stage)
        #expect(outcome == (step == .removed ? "alreadyDone" : "migrated"))
        #expect(try await vault.accounts() == [Self.new])
        #expect(try await text(vault, Self.new) == "2:token")
        #expect(try await migrate(stage) == "alreadyDone")
    }

    @Test func whatIsNotThereIsNotMigrated() async throws {
        let stage = try await BrokerStage()
        #expect(try await migrate(stage) == "nothingStored")
        #expect(try await vault(stage).accounts() == [])
    }

    /// B174's neighbour: an old version of the program worked after the migration, so its secret is the younger one.
    @Test func theYoungerOneWins() async throws {
        let stage = try await BrokerStage()
        let vault = vault(stage)
        try await vault.store(Secret("token"), account: "alice")
        #expect(try await migrate(stage) == "migrated")
        try await vault.store(Secret("of the old version"), account: "alice")
        #expect(try await migrate(stage) == "migrated")
        #expect(try await text(vault, Self.new) == "2:of the old version")
        try await vault.store(Secret("late"), account: "alice")
        try await vault.store(Secret("2:of the new version"), account: Self.new)
        #expect(try await migrate(stage) == "superseded")
        #expect(try await text(vault, Self.new) == "2:of the new version")
        #expect(try await vault.accounts() == [Self.new])
    }

    /// B077, B013: another program changes the old secret between two steps. Its change is carried over, not removed.
    @Test(arguments: [CredentialVault.MigrationStep.read, .stored, .readBack])
    func aChangeMeanwhileIsCarriedOver(step: CredentialVault.MigrationStep) async throws {
        let stage = try await BrokerStage()
        let vault = vault(stage)
        try await vault.store(Secret("one"), account: "alice")
        let client = try await stage.startClient([stage.bus.address, "migrate-stopping", step.rawValue])
        #expect(try await within("the step") { await client.output.next() } == "stops")
        try await vault.store(Secret("two"), account: "alice")
        client.signal(SIGCONT)
        #expect(try await within("the migration") { await client.output.next() } == "migrated")
        #expect(try await text(vault, Self.new) == "2:two")
        #expect(try await vault.accounts() == [Self.new])
    }

    /// B054, B173: what cannot be read ends it, with nothing removed and nothing made.
    @Test func whatCannotBeReadStays() async throws {
        let stage = try await BrokerStage()
        let vault = stage.vault(class: .whenUnlocked)
        try await vault.store(Secret("token"), account: "alice")
        try await stage.setPasscode()
        try await stage.lock()
        #expect(await failure { try await vault.migrate(from: "alice", to: Self.new) }?.name == "locked")
        try await stage.unlock()
        #expect(try await vault.accounts() == ["alice"])
        try await stage.damageSecrets()
        try await stage.unlock()
        #expect(await failure { try await vault.migrate(from: "alice", to: Self.new) }?.name == "damaged")
        #expect(try await vault.accounts() == ["alice"])
    }

    /// Killed with the new form stored, whose old one another program had changed before: that change is not lost.
    @Test func aKillDoesNotHideAChange() async throws {
        let stage = try await BrokerStage()
        let vault = vault(stage)
        try await vault.store(Secret("one"), account: "alice")
        let client = try await stage.startClient([stage.bus.address, "migrate-stopping", "read"])
        #expect(try await within("the step") { await client.output.next() } == "stops")
        try await vault.store(Secret("two"), account: "alice")
        // What the stopped one would store next, and then be killed.
        client.kill()
        _ = try await vault.put(
            SharedSecret(Secret("2:one")), account: Self.new,
            origin: try await vault.item("alice").revision - 1)
        #expect(try await migrate(stage) == "migrated")
        #expect(try await text(vault, Self.new) == "2:two")
    }

    /// Killed with the new form stored, which another program has renewed then, as a refresh does: what a migration made it
    /// of is the same, and its secret is not.
    @Test func whatWasRenewedMeanwhileStays() async throws {
        let stage = try await BrokerStage()
        let vault = vault(stage)
        try await vault.store(Secret("one"), account: "alice")
        #expect(try await migrate(stage, killedAfter: "stored") == "killed")
        let renewed = SharedSecret(Secret("2:renewed"))
        _ = try await vault.link.call { (broker) throws(ChatelaineError) in
            try await broker.update(vault.query(Self.new), Attributes(), secret: renewed)
        }
        #expect(try await migrate(stage) == "migrated")
        #expect(try await text(vault, Self.new) == "2:renewed")
        #expect(try await vault.accounts() == [Self.new])
    }

    @Test func labelAndEndAreCarriedOver() async throws {
        let stage = try await BrokerStage()
        let vault = vault(stage)
        let end = EventClock.realtime.now + 3_600_000_000
        _ = try await vault.put(
            SharedSecret(Secret("token")), account: "alice", label: "Mail of Alice", expires: end)
        #expect(try await migrate(stage) == "migrated")
        let item = try await vault.item(Self.new)
        #expect(item.attributes["Label"] == .text("Mail of Alice") && item.expires == end)
    }

    @Test func manyProcessesMigrateAtOnce() async throws {
        let stage = try await BrokerStage()
        let vault = vault(stage)
        try await vault.store(Secret("token"), account: "alice")
        let outcomes = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 1...6 { group.addTask { try await migrate(stage) } }
            return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        #expect(outcomes.isSubset(of: ["migrated", "alreadyDone"]))
        #expect(try await vault.accounts() == [Self.new])
        #expect(try await text(vault, Self.new) == "2:token")
    }
}
