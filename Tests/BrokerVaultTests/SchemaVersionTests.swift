import BrokerModel
import Foundation
import SQLite
import Sodium
import Testing
import TestKit

@testable import BrokerVault

/// The version of a store: that of what is in it. `Fixtures/version-1.sql` is a store that a broker made which knew no
/// internal classes: with the passcode 1234, and locked.
@Suite struct SchemaVersionTests {
    let bench: Bench

    init() async throws { bench = try await Bench() }

    @VaultActor private func version() throws -> Int64? { try bench.number("PRAGMA user_version") }

    /// Puts the old broker's store in its place.
    @VaultActor private func takeOld() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "Fixtures/version-1.sql")
        let database = try Database(path: bench.path, mode: .create)
        try database.execute(String(contentsOf: file, encoding: .utf8))
        #expect(try database.number("PRAGMA user_version") == 1)
    }

    private let old = [
        "after-first-unlock", "after-first-unlock-this-device-only", "when-passcode-set-this-device-only",
        "when-unlocked", "when-unlocked-this-device-only",
    ]

    @VaultActor private func expectOldItems(but damaged: String? = nil) throws {
        for name in old where name != damaged {
            let item = try bench.read(.query(name))
            #expect(item.secret.text == "secret of " + name)
            #expect(item.attributes.attributes[.label] == .text(Array("Label of it".utf8)))
            #expect(item.attributes.protection.accessibility.name == name)
        }
        let server = try WireDictionary(["Class": "internet-password", "Port": .number(443)])
        #expect(try bench.secret(server) == "of a server")
        #expect(try bench.secret(.query("timed").adding("Synchronizable", true)) == "timed")
        #expect(try bench.secrets(.query(nil), as: .two) == ["of another group"])
        // What was logged out before the first unlock is gone with it.
        #expect(try bench.search(.query(nil, service: "out")).isEmpty)
        let rows = try ["background_items", "foreground_items"].map {
            try bench.number("SELECT count(*) FROM \($0)")
        }
        #expect(rows == [5, 3])
    }

    // MARK: A store of before

    @VaultActor @Test func anOldStoreOpensWithItsItemsWhole() async throws {
        try takeOld()
        for name in old {
            let met = await refusal { () throws(Refusal) in _ = try bench.read(.query(name)) }
            #expect(met == .interactionNotAllowed, "\(name)")
        }
        #expect(await refusal { () throws(Refusal) in _ = try bench.found() } == .interactionNotAllowed)
        try await bench.unlock()
        try expectOldItems()
        #expect(try bench.found() == [] && bench.collections() == [])
        #expect(try await bench.check().damaged.values.allSatisfy { $0 == 0 })
    }

    /// An older broker can have it back: nothing is in it that one would lose.
    @VaultActor @Test func whatTheContractsCallsDoLeavesItsVersion() async throws {
        try takeOld()
        try await bench.unlock()
        try await bench.add(.item("new"), "new")
        try await bench.update(.query("new"), ["Label": "l"], "newer")
        try await bench.store(.item("new"), "newest")
        try await bench.delete(.query("new"))
        try await bench.logout("nothing", always: true)
        try await bench.setPasscode("other", old: "1234")
        #expect(try version() == 1)
        bench.restart()
        try await bench.unlock("other")
        try expectOldItems()
    }

    @VaultActor @Test(arguments: [true, false])
    func theFirstInternalRowRaisesIt(isItem: Bool) async throws {
        try takeOld()
        try await bench.unlock()
        if isItem { try await bench.keep("it", ["user": "me"]) } else { try await bench.collect("Work") }
        #expect(try version() == 2)
        bench.restart()
        try await bench.unlock()
        #expect(try bench.found(["user": "me"]) == (isItem ? ["it"] : []))
        #expect(try bench.collections() == (isItem ? [] : ["Work"]))
        try await bench.logout("", as: Who(groups: ["g3"]))
        let labels = try bench.found()
        #expect(labels.count == (isItem ? 1 : 0))
        try await bench.vault.deleteInternal(
            { () throws(Refusal) in Who.one.grant() },
            [Query(internal: .secretServiceItem), Query(internal: .secretServiceCollection)])
        try expectOldItems()
        // The log of an older broker may still be about it.
        #expect(try version() == 2)
    }

    /// The version is part of the change: where that is refused, so is the version.
    @VaultActor @Test func anInternalRowThatIsNotTakenRaisesNothing() async throws {
        try takeOld()
        try await bench.unlock()
        var rules = GroupRules()
        rules.maxItems = 1
        let met = await refusal { () throws(Refusal) in
            try await bench.keep("it", as: Who(rules: ["g1": rules]))
        }
        #expect(met == .quotaExceeded)
        #expect(try version() == 1)
    }

    @VaultActor @Test func anOldStoreWithADamagedRowIsRaisedAndTheOthersAreIntact() async throws {
        try takeOld()
        try bench.tamper(
            "UPDATE background_items SET attributes = substr(attributes, 2) WHERE id = 4; PRAGMA wal_checkpoint"
        )
        try await bench.unlock()
        try await bench.keep("it")
        #expect(try version() == 2)
        bench.restart()
        try await bench.unlock()
        let names = try bench.number("SELECT count(*) FROM background_items WHERE id = 4")
        #expect(names == 1)
        #expect(try await bench.check().damaged[.background] == 1)
        #expect(
            await refusal { () throws(Refusal) in _ = try bench.read(.query("after-first-unlock")) }
                == .decode)
        try await bench.drop(bench.look()[0].reference)
        try expectOldItems(but: "after-first-unlock")
    }

    // MARK: A store of now

    @VaultActor @Test func aNewStoreIsOfTheFirstVersionUntilThereIsMore() async throws {
        try await bench.add(.item(), "native")
        #expect(try version() == 1)
        try await bench.keep("it")
        #expect(try version() == 2)
        bench.restart()
        #expect(try bench.found() == ["it"] && bench.secret(.query()) == "native")
    }
}
