@_spi(Testing) import BrokerGate
import BrokerModel
import Sodium
import Testing
import TestKit

@testable import BrokerVault

/// Where the policy wants the secrets of internal items, and what becomes of those that are there already.
@Suite struct ForegroundPolicyTests {
    let bench: Bench

    init() async throws {
        bench = try await Bench()
        try await bench.setPasscode("1234")
    }

    private let bank = ["xdg:schema": "org.example.Bank", "user": "me"]

    /// Under a policy that has the bank's schema read while unlocked alone, or a whole group.
    private func who(
        schema: String = "org.example.Bank", groups: Set<AccessGroup> = [], takes: [Accessibility] = [],
        role: Entitlements.Role = .full
    ) -> Who {
        var who = Who(role: role)
        who.rules["g1"] = GroupRules()
        who.rules["g1"]?.accessible = takes
        who.foregroundSecrets = ForegroundSecrets(groups: groups) { $0 == schema }
        return who
    }

    /// Items, and secrets that are apart from theirs.
    @VaultActor private func rows() throws -> [Int64?] {
        try ["background_items", "foreground_items"].map { try bench.number("SELECT count(*) FROM \($0)") }
    }

    @VaultActor private func accessible(_ reference: Reference) throws -> Accessibility? {
        try #require(bench.look().first { $0.reference == reference }).attributes.secretAccessible
    }

    @VaultActor private func isReadable(_ reference: Reference) async -> Bool {
        await refusal { () throws(Refusal) in _ = try bench.kept(reference) } == nil
    }

    @VaultActor @Test func aSchemaHasItsSecretsInTheForegroundAndNoOtherHas() async throws {
        let reference = try await bench.keep("bank", bank, as: who()).reference
        var others: [Reference] = []
        for lookup in [
            ["xdg:schema": "org.example.bank"], ["xdg:schema": "org.example.Bank2"],
            ["XDG:schema": "org.example.Bank"], ["schema": "org.example.Bank"], [:],
        ] {
            others.append(try await bench.keep("other", lookup, as: who()).reference)
        }
        #expect(try accessible(reference) == .whenUnlockedThisDeviceOnly && rows() == [6, 1])
        try bench.lock()
        #expect(try bench.found(bank) == ["bank"])
        #expect(await !isReadable(reference))
        for other in others { #expect(await isReadable(other)) }
        let added = await refusal { () throws(Refusal) in try await bench.keep("x", bank, as: who()) }
        #expect(added == .interactionNotAllowed)
        try await bench.keep("x", ["xdg:schema": "another"], as: who())
        try await bench.unlock()
        #expect(try bench.keptSecret(reference) == "x")
    }

    @VaultActor @Test func aGroupThatIsNamedHasAllOfThemThere() async throws {
        let asked = who(groups: ["g1"])
        try await bench.keep("1", as: asked)
        try await bench.keep("2", ["a": "b"], as: asked)
        try await bench.collect("Work", as: asked)
        var other = who(groups: ["g1"])
        other.groups = ["g2"]
        try await bench.keep("3", as: other)
        #expect(try rows() == [4, 2])
    }

    /// What the section says counts beside what the group takes; of the group's classes the foreground ones come first.
    @VaultActor
    @Test(
        arguments: [
            ([], .whenUnlockedThisDeviceOnly),
            ([.afterFirstUnlock], .whenUnlockedThisDeviceOnly),
            ([.afterFirstUnlockThisDeviceOnly, .whenUnlocked], .whenUnlocked),
            ([.afterFirstUnlock, .whenPasscodeSetThisDeviceOnly], .whenUnlockedThisDeviceOnly),
            ([.whenPasscodeSetThisDeviceOnly], .whenPasscodeSetThisDeviceOnly),
        ] as [([Accessibility], Accessibility)])
    func theClassIsOneThatTheGroupTakes(taken: [Accessibility], wanted: Accessibility) async throws {
        let reference = try await bench.keep("bank", bank, as: who(takes: taken)).reference
        #expect(try accessible(reference) == wanted)
        #expect(try bench.keptSecret(reference) == "x")
    }

    @VaultActor @Test func anOldSecretStaysWhereItIsUntilItIsWritten() async throws {
        let reference = try await bench.keep("bank", bank, secret: "old").reference
        #expect(try bench.keptSecret(reference, as: who()) == "old" && rows() == [1, 0])
        try await bench.rework(reference, label: "renamed", as: who())
        #expect(try accessible(reference) == nil && rows() == [1, 0])
        try await bench.rework(reference, secret: "new", as: who())
        #expect(try accessible(reference) == .whenUnlockedThisDeviceOnly && rows() == [1, 1])
        #expect(try bench.keptSecret(reference) == "new")
        try bench.lock()
        #expect(await !isReadable(reference))
        // A policy that has no say any more: the next secret is of the background, locked or not.
        try await bench.rework(reference, label: "named again")
        #expect(await !isReadable(reference))
        try await bench.rework(reference, secret: "newest")
        #expect(try accessible(reference) == nil && rows() == [1, 0])
        #expect(try bench.keptSecret(reference) == "newest")
        #expect(try bench.look().first?.protection.accessibility == .afterFirstUnlockThisDeviceOnly)
        #expect(try await bench.check().damaged.values.allSatisfy { $0 == 0 })
    }

    @VaultActor @Test func whatIsReplacedGoesWhereThePolicyWantsIt() async throws {
        let reference = try await bench.keep("bank", bank, secret: "1").reference
        try await bench.keep("bank", bank, secret: "2", replacing: true, as: who())
        #expect(try accessible(reference) == .whenUnlockedThisDeviceOnly)
        #expect(try bench.keptSecret(reference) == "2" && rows() == [1, 1])
        try await bench.keep("bank", bank, secret: "3", replacing: true)
        #expect(try accessible(reference) == nil)
        #expect(try bench.keptSecret(reference) == "3" && rows() == [1, 0])
        #expect(try bench.number("SELECT background + 8 * foreground FROM groups") == 1)
    }

    /// An item that takes on the schema takes on its protection; one that puts it off keeps it until its secret is written.
    @VaultActor @Test func newAttributesRaiseAndNeverLower() async throws {
        let reference = try await bench.keep("it", ["user": "me"], secret: "1").reference
        try bench.lock()
        let raised = await refusal { () throws(Refusal) in
            try await bench.rework(reference, bank, as: who())
        }
        #expect(raised == .interactionNotAllowed)
        #expect(try bench.found(["user": "me"]) == ["it"] && bench.found(bank) == [])
        #expect(try bench.keptSecret(reference) == "1")
        try await bench.rework(reference, ["user": "you"], as: who())
        try await bench.unlock()
        try await bench.rework(reference, bank, as: who())
        #expect(try accessible(reference) == .whenUnlockedThisDeviceOnly)
        #expect(try bench.keptSecret(reference) == "1" && rows() == [1, 1])
        try await bench.rework(reference, ["user": "me"], as: who())
        #expect(try accessible(reference) == .whenUnlockedThisDeviceOnly)
        try bench.lock()
        #expect(await !isReadable(reference))
        try await bench.unlock()
        try await bench.rework(reference, secret: "2", as: who())
        #expect(try accessible(reference) == nil && bench.keptSecret(reference) == "2")
    }

    @VaultActor @Test func aSecretThatIsRaisedIsInNoRowOfTheBackground() async throws {
        let reference = try await bench.keep("it", ["user": "me"], secret: "1").reference
        try await bench.rework(reference, bank, as: who())
        let row = try #require(try bench.vault.openStore().reading.background.row(1, withSecret: true))
        let keys = try #require(bench.vault.keyring.background)
        var count = -1
        if let own = row.openSecret(with: keys) { count = own.count }
        #expect(count == 0)
    }

    @VaultActor @Test func aBackgroundCallerCanPutNothingThere() async throws {
        let reference = try await bench.keep("it", ["user": "me"], secret: "1", as: .background).reference
        let role = who(role: .background)
        for call in 0..<3 {
            let met = await refusal { () throws(Refusal) in
                switch call {
                case 0: try await bench.keep("new", bank, as: role)
                case 1: try await bench.rework(reference, bank, as: role)
                default: try await bench.rework(reference, bank, secret: "2", as: role)
                }
            }
            #expect(met == .missingEntitlement, "\(call)")
        }
        #expect(try bench.keptSecret(reference) == "1" && rows() == [1, 0])
    }

    @VaultActor @Test func aDamagedSecretIsNotTakenAlong() async throws {
        let reference = try await bench.keep("it", ["user": "me"]).reference
        try bench.tamper("UPDATE background_items SET secret = substr(secret, 2)")
        let met = await refusal { () throws(Refusal) in try await bench.rework(reference, bank, as: who()) }
        #expect(met == .decode)
        #expect(try rows() == [1, 0])
        try await bench.rework(reference, bank, secret: "2", as: who())
        #expect(try bench.keptSecret(reference) == "2" && rows() == [1, 1])
    }
}
