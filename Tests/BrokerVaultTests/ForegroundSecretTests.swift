@_spi(Testing) import BrokerGate
import BrokerModel
import Foundation
import Sodium
import Testing
import TestKit

@testable import BrokerVault

/// Internal items whose secret is of the foreground: found while locked, and read when unlocked.
@Suite struct ForegroundSecretTests {
    let bench: Bench

    init() async throws { bench = try await Bench() }

    private let lookup = ["server": "example.org", "user": "me"]

    private func who(_ accessible: Accessibility..., groups: [AccessGroup] = ["g1"]) -> Who {
        var rules = GroupRules()
        rules.accessible = accessible
        return Who(groups: groups, rules: Dictionary(uniqueKeysWithValues: groups.map { ($0, rules) }))
    }

    /// One item in a group whose first class is `when-unlocked`, with a passcode.
    @VaultActor private func keep(_ accessible: Accessibility = .whenUnlocked) async throws -> Reference {
        try await bench.setPasscode("1234")
        return try await bench.keep("it", lookup, secret: "1", as: who(accessible)).reference
    }

    @VaultActor private func rows() throws -> [Int64?] {
        try ["background_items", "foreground_items"].map { try bench.number("SELECT count(*) FROM \($0)") }
    }

    @VaultActor private func secret(_ reference: Reference) async -> Refusal.Kind? {
        await refusal { () throws(Refusal) in _ = try bench.kept(reference) }
    }

    @VaultActor
    @Test(arguments: [
        Accessibility.whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly,
    ])
    func aLockedItemIsFoundAndItsSecretIsOutOfReach(accessible: Accessibility) async throws {
        let reference = try await keep(accessible)
        #expect(try bench.keptSecret(reference) == "1" && rows() == [1, 1])
        try bench.lock()
        let item = try #require(try bench.look(lookup).first)
        #expect(item.label == "it" && item.reference == reference && item.isSecretForeground)
        #expect(item.attributes.secretAccessible == accessible)
        #expect(item.attributes.lookup.dictionary == lookup)
        #expect(await secret(reference) == .interactionNotAllowed)
        try await bench.unlock()
        #expect(try bench.keptSecret(reference) == "1")
        bench.restart()
        #expect(await refusal { () throws(Refusal) in _ = try bench.found() } == .interactionNotAllowed)
        try await bench.unlock()
        #expect(try bench.found(lookup) == ["it"] && bench.keptSecret(reference) == "1")
    }

    /// The class key is what holds it back, not a flag.
    @VaultActor @Test func theSecretIsUnderTheForegroundKeyAlone() async throws {
        _ = try await keep()
        let row = try #require(try bench.vault.openStore().reading.background.row(1, withSecret: true))
        let keys = try #require(bench.vault.keyring.background)
        var count = -1
        if let own = row.openSecret(with: keys) { count = own.count }
        #expect(count == 0)
        let whole = "SELECT count(*) FROM foreground_items WHERE item_class = 5 AND class_key = 1"
        #expect(try bench.number(whole) == 1)
    }

    @VaultActor @Test func whileLockedLabelsChangeAndSecretsDoNot() async throws {
        let reference = try await keep()
        try bench.lock()
        try await bench.rework(reference, label: "renamed", ["user": "you"])
        #expect(try bench.found(["user": "you"]) == ["renamed"] && bench.found(lookup) == [])
        let changed = await refusal { () throws(Refusal) in
            try await bench.rework(reference, secret: "2", as: who(.whenUnlocked))
        }
        #expect(changed == .interactionNotAllowed)
        let replaced = await refusal { () throws(Refusal) in
            try await bench.keep("x", ["user": "you"], replacing: true, as: who(.whenUnlocked))
        }
        #expect(replaced == .interactionNotAllowed)
        let added = await refusal { () throws(Refusal) in try await bench.keep("x", as: who(.whenUnlocked)) }
        #expect(added == .interactionNotAllowed)
        #expect(try rows() == [1, 1] && bench.found() == ["renamed"])
        try await bench.unlock()
        #expect(try bench.keptSecret(reference) == "1")
        try await bench.rework(reference, secret: "2", as: who(.whenUnlocked))
        #expect(try bench.keptSecret(reference) == "2" && rows() == [1, 1])
        let again = try await bench.keep(
            "y", ["user": "you"], secret: "3", replacing: true, as: who(.whenUnlocked))
        #expect(again.reference == reference)
        #expect(try bench.keptSecret(reference) == "3" && rows() == [1, 1])
    }

    /// Deleting needs no key; nothing of either row is left.
    @VaultActor @Test(arguments: [true, false])
    func bothRowsGoTogether(isLocked: Bool) async throws {
        let reference = try await keep()
        try await bench.keep("other", secret: "2", as: who(.whenUnlocked, groups: ["g2"]))
        if isLocked { try bench.lock() }
        try await bench.drop(reference)
        #expect(try rows() == [1, 1])
        #expect(try bench.number("SELECT count(*) FROM tokens WHERE group_id = 1") == 0)
        #expect(try await bench.logout("", as: .two).deleted == 1)
        #expect(try rows() == [0, 0])
        for table in ["tokens", "primary_keys"] {
            #expect(try bench.number("SELECT count(*) FROM \(table)") == 0, "\(table)")
        }
        #expect(try bench.vault.groups() == [])
        #expect(try bench.number("SELECT sum(bytes) FROM groups") == 0)
    }

    @VaultActor @Test func aLogoutBeforeTheFirstUnlockTakesBoth() async throws {
        _ = try await keep()
        bench.restart()
        try await bench.logout("")
        try await bench.unlock()
        #expect(try rows() == [0, 0] && bench.vault.groups() == [])
    }

    @VaultActor @Test func aCollectionTakesBothWithIt() async throws {
        try await bench.setPasscode("1234")
        let who = who(.whenUnlocked)
        let work = try await bench.collect("Work", as: who)
        try await bench.keep("it", in: .made(work), as: who)
        try bench.lock()
        #expect(try bench.collections() == ["Work"])
        var items = AttributeSet()
        items[.collection] = SecretCollection.ID.made(work).attribute
        let queries = [
            Query(internal: .secretServiceCollection, reference: work),
            Query(internal: .secretServiceItem, items),
        ]
        try await bench.vault.deleteInternal({ () throws(Refusal) in who.grant() }, queries)
        #expect(try rows() == [0, 0])
    }

    @VaultActor @Test func bothMoveTogetherAndOnlyWhenUnlocked() async throws {
        let reference = try await keep()
        try bench.lock()
        let both = who(.whenUnlocked, groups: ["g1", "g2"])
        func move() async throws(Refusal) -> UInt32 {
            try await bench.vault.moveItems({ () throws(Refusal) in both.grant() }, to: "g2")
        }
        #expect(await refusal { () throws(Refusal) in _ = try await move() } == .interactionNotAllowed)
        #expect(try bench.found() == ["it"])
        try await bench.unlock()
        #expect(try await move() == 1)
        #expect(try bench.found() == [] && bench.found(lookup, as: .two) == ["it"])
        #expect(try bench.kept(reference, as: .two).secret.text == "1")
        #expect(try bench.vault.groups() == ["g2"])
        #expect(bench.notices.allSatisfy { if case .itemChanged = $0 { false } else { true } })
    }

    @VaultActor @Test func withoutAPasscodeTheKeysAreNewAndThePasscodesClassIsGone() async throws {
        let reference = try await keep()
        try await bench.keep("passcode", as: who(.whenPasscodeSetThisDeviceOnly))
        #expect(try bench.found() == ["it", "passcode"])
        try await bench.removePasscode("1234")
        #expect(try bench.found() == ["it"] && bench.keptSecret(reference) == "1")
        #expect(try rows() == [1, 1])
        bench.restart()
        #expect(try bench.keptSecret(reference) == "1")
        #expect(try await bench.check().damaged.values.allSatisfy { $0 == 0 })
    }

    /// Foreground items do not exist for a caller of the background, in whatever form.
    @VaultActor @Test func aBackgroundCallerSeesNoneOfIt() async throws {
        let reference = try await keep()
        #expect(try bench.found(lookup, as: .background) == [])
        for call in 0..<4 {
            let met = await refusal { () throws(Refusal) in
                switch call {
                case 0: _ = try bench.kept(reference, as: .background)
                case 1: try await bench.rework(reference, label: "x", as: .background)
                case 2: try await bench.drop(reference, as: .background)
                default: _ = try bench.kept(reference, of: .secretServiceSecret, as: .background)
                }
            }
            #expect(met == .itemNotFound, "\(call)")
        }
        var background = who(.whenUnlocked)
        background.role = .background
        let asked = background
        let met = await refusal { () throws(Refusal) in try await bench.keep("new", as: asked) }
        #expect(met == .missingEntitlement)
        #expect(try bench.keptSecret(reference) == "1")
    }

    @VaultActor
    @Test(arguments: [
        "DELETE FROM foreground_items", "UPDATE foreground_items SET secret = substr(secret, 2)",
        "UPDATE foreground_items SET created = created + 1", "UPDATE foreground_items SET item_class = 3",
        "UPDATE foreground_items SET reference = zeroblob(16)", "UPDATE foreground_items SET class_key = 2",
        "UPDATE foreground_items SET group_id = 2",
    ])
    func aSecretThatIsTamperedWithIsDamage(sql: String) async throws {
        let reference = try await keep()
        try await bench.keep("whole", as: .two)
        try bench.tamper(sql)
        #expect(await secret(reference) == .decode)
        #expect(try bench.found(lookup) == ["it"])
        #expect(try await bench.check().damaged.values.contains { $0 > 0 })
        try await bench.rework(reference, secret: "2")
        #expect(try bench.keptSecret(reference) == "2")
    }

    /// Each secret is bound to its item, so one cannot stand in another's place.
    @VaultActor @Test func secretsOfTwoItemsCannotBeExchanged() async throws {
        let first = try await keep()
        let second = try await bench.keep("2", secret: "2", as: who(.whenUnlocked)).reference
        try bench.tamper(
            """
            CREATE TABLE saved AS SELECT * FROM foreground_items;
            UPDATE foreground_items SET reference = randomblob(16);
            UPDATE foreground_items SET reference =
                (SELECT s.reference FROM saved s WHERE s.id <> foreground_items.id);
            """)
        for reference in [first, second] { #expect(await secret(reference) == .decode) }
        try bench.tamper(
            """
            UPDATE foreground_items SET reference = randomblob(16);
            UPDATE foreground_items SET reference =
                (SELECT s.reference FROM saved s WHERE s.id = foreground_items.id);
            UPDATE foreground_items SET secret = (SELECT s.secret FROM saved s WHERE s.id <> foreground_items.id);
            """)
        for reference in [first, second] { #expect(await secret(reference) == .decode) }
    }

    @VaultActor @Test func nothingOfItIsInAnyFileInClear() async throws {
        try await bench.setPasscode("1234")
        try await bench.keep(
            "LABELWORD", ["NAMEWORD": "VALUEWORD"], secret: "SECRETWORD", as: who(.whenUnlocked))
        try bench.lock()
        #expect(try bench.found(["NAMEWORD": "VALUEWORD"]) == ["LABELWORD"])
        let folder = bench.folder.path
        for word in ["LABELWORD", "NAMEWORD", "VALUEWORD", "SECRETWORD"] {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { name in
                try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name)).range(of: Data(word.utf8))
                    != nil
            }
            #expect(names == [], "\(word)")
        }
    }

    @VaultActor @Test func quotasCountBothRows() async throws {
        var who = who(.whenUnlocked)
        who.rules["g1"]?.maxItems = 3
        let limited = who
        try await bench.keep("1", as: limited)
        #expect(
            await refusal { () throws(Refusal) in try await bench.keep("2", as: limited) } == .quotaExceeded)
        #expect(try rows() == [1, 1] && bench.found() == ["1"])
    }
}
