import BrokerModel
import Foundation
import SQLite
import Sodium
import Testing
import TestKit

@testable import BrokerVault

/// Internal rows that were changed behind the broker's back, and what a reader of the files learns of them.
@Suite struct InternalDamageTests {
    let bench: Bench

    init() async throws { bench = try await Bench() }

    private let lookup = ["server": "example.org", "user": "me"]

    private static let columns = [
        "group_id", "item_class", "class_key", "reference", "revision", "created", "modified", "expires",
        "fresh_until", "synchronizable", "gated", "primary_token", "tokens", "size", "attributes", "secret",
    ]
    private static let values = [
        "%c + 1", "-1", "0", "1", "2", "3", "4", "5", "9223372036854775807", "NULL", "x''", "zeroblob(16)",
        "zeroblob(300)", "substr(%c, 2)", "substr(%c, 1, length(%c) - 1)",
    ]

    /// Whatever is done to a row, it is the item that it was, or none; the rows beside it stay, and it stays too.
    @VaultActor @Test(arguments: columns)
    func aChangedColumnIsNeverAnotherItem(column: String) async throws {
        try await bench.keep("before", lookup, secret: "before")
        let victim = try await bench.keep("victim", lookup, secret: "victim")
        let work = try await bench.collect("Work")
        try await bench.keep("after", lookup, secret: "after", in: .made(work))
        try await bench.add(.item(), "native", as: .two)
        bench.forgetNotices()
        for value in Self.values.map({ $0.replacing("%c", with: column) }) {
            try bench.tamper("CREATE TABLE saved AS SELECT * FROM background_items WHERE id = 2")
            // A constraint may refuse the value, which is as good.
            try? bench.tamper("UPDATE background_items SET \(column) = \(value) WHERE id = 2")
            try await judge(victim.reference, "\(column) = \(value)")
            try bench.tamper(
                """
                DELETE FROM background_items WHERE id = 2;
                INSERT INTO background_items SELECT * FROM saved; DROP TABLE saved;
                """)
        }
        #expect(try bench.keptSecret(victim.reference) == "victim")
    }

    @VaultActor private func judge(_ reference: Reference, _ change: String) async throws {
        var found: ItemWithSecret?
        let met = await refusal { () throws(Refusal) in found = try bench.kept(reference) }
        #expect(met == nil || met == .decode || met == .itemNotFound, "\(change)")
        if let found {
            #expect(found.secret.text == "victim" && found.attributes.label == "victim", "\(change)")
            #expect(found.attributes.accessGroup == "g1", "\(change)")
            #expect(found.attributes.attributes.lookup.dictionary == lookup, "\(change)")
        }
        #expect(
            try [["before", "victim", "after"], ["before", "after"]].contains(bench.found(lookup)),
            "\(change)")
        #expect(try bench.found(as: .two) == [] && bench.secret(.query(), as: .two) == "native", "\(change)")
        #expect(try bench.search(.query(nil)).isEmpty, "\(change)")
        #expect(try bench.collections() == ["Work"], "\(change)")
        _ = try await bench.check()
        try await bench.sweep()
        #expect(try bench.number("SELECT count(*) FROM background_items") == 5, "\(change)")
        #expect(bench.notices == [], "\(change)")
    }

    @VaultActor @Test(arguments: ["attributes", "secret"])
    func aDamagedItemIsPassedOverAndStays(column: String) async throws {
        let victim = try await bench.keep("victim", lookup)
        try bench.tamper("UPDATE background_items SET \(column) = substr(\(column), 2)")
        #expect(await refusal { () throws(Refusal) in _ = try bench.kept(victim.reference) } == .decode)
        try await bench.keep("whole", ["server": "example.org"])
        #expect(try bench.found(["server": "example.org"]).contains("whole"))
        #expect(try await bench.check().damaged[.background] == 1)
        let met = await refusal { () throws(Refusal) in try await bench.rework(victim.reference, label: "x") }
        #expect(met == .decode)
        #expect(try bench.number("SELECT count(*) FROM background_items") == 2)
        try await bench.drop(victim.reference)
        #expect(try await bench.check().damaged[.background, default: 0] == 0)
        #expect(try bench.found() == ["whole"])
    }

    @VaultActor @Test func whereAllThatMatchAreDamagedACallSaysSo() async throws {
        try await bench.keep("victim", lookup)
        try bench.tamper("UPDATE background_items SET attributes = substr(attributes, 2)")
        #expect(await refusal { () throws(Refusal) in _ = try bench.found(lookup) } == .decode)
        #expect(try bench.found(["server": "example.net"]) == [])
    }

    /// A damaged item may be the one that is meant, or not: what is stored goes beside it, and is not lost.
    @VaultActor @Test func aDamagedItemStandsInNoReplacementsWay() async throws {
        try await bench.keep("victim", lookup)
        try bench.tamper("UPDATE background_items SET attributes = substr(attributes, 2)")
        for filter in [lookup, ["user": "me"]] {
            let stored = try await bench.keep("new", filter, secret: "new", replacing: true)
            #expect(stored.created)
            #expect(try bench.keptSecret(stored.reference) == "new")
        }
        #expect(try bench.number("SELECT count(*) FROM background_items") == 3)
    }

    @VaultActor @Test func aSecretOfItsOwnMendsADamagedOne() async throws {
        let victim = try await bench.keep("victim", lookup, secret: "1")
        try bench.tamper("UPDATE background_items SET secret = substr(secret, 2)")
        #expect(await refusal { () throws(Refusal) in _ = try bench.kept(victim.reference) } == .decode)
        try await bench.rework(victim.reference, secret: "2")
        #expect(try bench.keptSecret(victim.reference) == "2")
    }

    @VaultActor @Test(arguments: ["attributes", "secret", "attributes = b.attributes, secret"])
    func partsOfTwoItemsCannotBeExchanged(columns: String) async throws {
        let stored = [
            try await bench.keep("1", lookup), try await bench.keep("2", lookup),
            try await bench.keep("3", lookup, as: .two),
        ]
        let last = columns.split(separator: " ").last!
        for (victim, donor) in [(1, 2), (2, 1), (1, 3), (3, 1)] {
            try bench.tamper(
                """
                CREATE TABLE saved AS SELECT * FROM background_items;
                UPDATE background_items SET \(columns) = b.\(last) FROM saved b
                WHERE background_items.id = \(victim) AND b.id = \(donor)
                """)
            let reference = stored[victim - 1].reference
            let met = await refusal { () throws(Refusal) in _ = try bench.kept(reference, as: .both) }
            #expect(met == .decode, "\(victim) \(donor)")
            try bench.tamper(
                """
                DELETE FROM background_items; INSERT INTO background_items SELECT * FROM saved; DROP TABLE saved
                """)
        }
    }

    /// Index entries are believed for nothing: what they lead to must be what is looked for.
    @VaultActor @Test func anIndexEntryThatLeadsElsewhereFindsNothingElse() async throws {
        try await bench.keep("mine", ["user": "me"])
        try await bench.keep("theirs", ["user": "you"], as: .two)
        try bench.tamper("UPDATE OR REPLACE tokens SET item = 2, group_id = 1 WHERE item = 1")
        #expect(try bench.found(["user": "me"]) == [])
        #expect(try bench.found(["user": "you"], as: .two) == ["theirs"])
    }

    private static let words = [
        "LABELWORD", "NAMEWORD", "VALUEWORD", "SECRETWORD", "OTHERWORD", "COLLWORD", "text/plain",
    ]

    @VaultActor @Test func noLabelNoAttributeAndNoSecretIsInAnyFile() async throws {
        try await bench.setPasscode("1234")
        try await bench.collect("COLLWORD")
        let stored = try await bench.keep("LABELWORD", ["NAMEWORD": "VALUEWORD"], secret: "SECRETWORD")
        try await bench.keep("LABELWORD", ["NAMEWORD": "VALUEWORD"], secret: "OTHERWORD", replacing: true)
        try await bench.rework(stored.reference, label: "OTHERWORD", ["NAMEWORD": "OTHERWORD"])
        #expect(try bench.found(["NAMEWORD": "OTHERWORD"]) == ["OTHERWORD"])
        let folder = bench.folder.path
        for word in Self.words + [stored.reference.description] {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { name in
                try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name)).range(of: Data(word.utf8))
                    != nil
            }
            #expect(names == [], "\(word)")
        }
    }
}
