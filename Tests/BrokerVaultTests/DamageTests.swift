@_spi(Testing) import BrokerGate
import BrokerModel
import SQLite
import Testing

@testable import BrokerVault

/// Rows that were changed behind the broker's back (SEMANTICS 7.3; K16, K17, K22).
@Suite struct DamageTests {
    let bench: Bench

    init() async throws { bench = try await Bench() }

    /// One item before the victim, one after it, one in another group, one on the other side.
    @VaultActor private func fill() async throws {
        try await bench.add(.item("before").adding("Label", "l"), "before")
        try await bench.add(
            .item("victim").adding("Label", "l").adding("FreshUntil", .time(bench.clock * 2)), "victim")
        try await bench.add(.item("after").adding("Label", "l"), "after")
        try await bench.add(.item("victim").adding("Label", "l"), "foreign", as: .two)
        try await bench.add(.item("front", accessible: .whenUnlocked).adding("Label", "l"), "front")
    }

    private static let columns = [
        "group_id", "item_class", "class_key", "reference", "revision", "created", "modified", "expires",
        "fresh_until", "synchronizable", "gated", "primary_token", "tokens", "size", "attributes", "secret",
    ]

    private static let changes = [
        "%c + 1", "%c - 1", "-1", "0", "1", "2", "3", "9223372036854775807", "-9223372036854775808", "NULL",
        "x''", "zeroblob(16)", "zeroblob(300)", "zeroblob(100000)", "'text'", "1.5", "substr(%c, 2)",
        "substr(%c, 1, length(%c) - 1)",
    ]

    /// What a column may be changed to without a change of what the broker says: it is not bound, or the
    /// value means the same.
    private func isHarmless(_ found: ItemWithSecret?) -> Bool {
        guard let found else { return true }
        return found.secret.text == "victim"
            && found.attributes.attributes[.account] == .text(Array("victim".utf8))
            && found.attributes.accessGroup == "g1" && found.attributes.freshUntil == start * 2
            && found.attributes.expires == nil && !found.attributes.synchronizable
            && found.attributes.created == start && found.attributes.modified == start
            && found.attributes.revision == 2 && found.attributes.itemClass == .genericPassword
    }

    private let start: UInt64 = 1_800_000_000_000_000

    @VaultActor @Test(arguments: columns)
    func aChangedColumnIsNeverAnotherItem(column: String) async throws {
        try await fill()
        for change in Self.changes {
            let value = change.replacing("%c", with: column)
            try bench.tamper("CREATE TABLE saved AS SELECT * FROM background_items WHERE id = 2")
            // A constraint may refuse the value, which is as good.
            try? bench.tamper("UPDATE background_items SET \(column) = \(value) WHERE id = 2")
            try await judge("\(column) = \(value)")
            try bench.tamper(
                """
                DELETE FROM background_items WHERE id = 2;
                INSERT INTO background_items SELECT * FROM saved; DROP TABLE saved;
                """
            )
        }
        #expect(try bench.secret(.query("victim")) == "victim")
    }

    @VaultActor private func judge(_ change: String) async throws {
        var found: ItemWithSecret?
        let met = await refusal { () throws(Refusal) in found = try bench.read(.query("victim")) }
        #expect(met == nil || met == .decode || met == .itemNotFound, "\(change)")
        #expect(isHarmless(found), "\(change)")
        let label = try WireDictionary(["Class": "generic-password", "Label": "l"])
        let all = try bench.secrets(label)
        #expect(
            all == ["before", "victim", "after", "front"] || all == ["before", "after", "front"], "\(change)")
        #expect(try bench.secret(.query("victim"), as: .two) == "foreign", "\(change)")
        _ = try await bench.check()
        try await bench.sweep()
        #expect(try bench.number("SELECT count(*) FROM background_items WHERE id <> 2") == 3, "\(change)")
    }

    @VaultActor @Test func aTimeThatWasNeverGivenIsDamage() async throws {
        try await bench.add(.item("1"), "1")
        try bench.tamper("UPDATE background_items SET fresh_until = 0")
        #expect(await refusal { () throws(Refusal) in _ = try bench.read(.query("1")) } == .decode)
    }

    /// Every byte of both sealed parts counts.
    @VaultActor @Test(arguments: ["attributes", "secret"])
    func everyByteOfASealedPartIsAuthenticated(column: String) async throws {
        try await bench.add(.item("victim"), "victim")
        let database = try Database(path: bench.path, mode: .readWrite)
        let select = try database.statement("SELECT \(column) FROM background_items")
        #expect(try select.step())
        let whole = select.bytes(0)
        select.reset()
        let update = try database.statement("UPDATE background_items SET \(column) = ?1")
        for index in whole.indices {
            var bytes = whole
            bytes[index] ^= 1
            update.bind(bytes, at: 1)
            try update.run()
            #expect(await refusal { () throws(Refusal) in _ = try bench.read(.query("victim")) } == .decode)
        }
        update.bind(whole, at: 1)
        try update.run()
        #expect(try bench.secret(.query("victim")) == "victim")
    }

    @VaultActor @Test(arguments: ["attributes", "secret", "attributes = b.attributes, secret"])
    func partsSwappedBetweenRowsDoNotOpen(columns: String) async throws {
        try await bench.add(.item("1"), "1")
        try await bench.add(.item("2"), "2")
        try await bench.add(.item("1"), "3", as: .two)
        let last = columns.split(separator: " ").last!
        for (victim, donor) in [(1, 2), (2, 1), (1, 3), (3, 1)] {
            try bench.tamper("CREATE TABLE saved AS SELECT * FROM background_items")
            try bench.tamper(
                """
                UPDATE background_items SET \(columns) = b.\(last) FROM saved b
                WHERE background_items.id = \(victim) AND b.id = \(donor)
                """
            )
            let who: Who = victim == 3 ? .two : .one
            let account = victim == 3 ? "1" : "\(victim)"
            #expect(
                await refusal { () throws(Refusal) in _ = try bench.read(.query(account), as: who) }
                    == .decode)
            try bench.tamper(
                """
                DELETE FROM background_items;
                INSERT INTO background_items SELECT * FROM saved; DROP TABLE saved;
                """
            )
        }
    }

    /// Everything of a row but its number and its reference, put into another row.
    @VaultActor @Test func aWholeRowUnderAnotherNumberDoesNotOpen() async throws {
        try await bench.add(.item("1"), "1")
        try await bench.add(.item("2"), "2")
        try bench.tamper(
            "DELETE FROM background_items WHERE id = 2; UPDATE background_items SET id = 2 WHERE id = 1")
        #expect(await refusal { () throws(Refusal) in _ = try bench.read(.query("2")) } == .decode)
        #expect(await refusal { () throws(Refusal) in _ = try bench.read(.query("1")) } == .itemNotFound)
    }

    @VaultActor @Test func aRowMovedToTheOtherSideDoesNotOpen() async throws {
        try await bench.add(.item("1", accessible: .whenUnlocked), "1")
        try bench.tamper(
            """
            INSERT INTO background_items SELECT * FROM foreground_items; DELETE FROM foreground_items;
            UPDATE tokens SET side = 1; UPDATE primary_keys SET side = 1;
            """)
        #expect(await refusal { () throws(Refusal) in _ = try bench.read(.query("1")) } == .decode)
        try await bench.setPasscode("1234")
        try bench.lock()
        #expect(await refusal { () throws(Refusal) in _ = try bench.read(.query("1")) } == .decode)
    }

    @VaultActor @Test func groupsThatExchangeTheirNamesExchangeNoItem() async throws {
        try await bench.add(.item("1"), "1", as: .one)
        try await bench.add(.item("2"), "2", as: .two)
        bench.restart()
        try bench.tamper(
            """
            UPDATE groups SET name = 'g3' WHERE name = 'g1';
            UPDATE groups SET name = 'g1' WHERE name = 'g2';
            UPDATE groups SET name = 'g2' WHERE name = 'g3';
            """
        )
        #expect(await refusal { () throws(Refusal) in _ = try bench.read(.query("2"), as: .one) } == .decode)
        #expect(await refusal { () throws(Refusal) in _ = try bench.read(.query("1"), as: .two) } == .decode)
    }

    /// An index that leads to another item makes a damaged answer, not that item.
    @VaultActor @Test func anIndexThatLeadsToAnotherItemIsNotBelieved() async throws {
        try await bench.add(.item("1"), "1")
        try await bench.add(.item("2"), "2")
        let exchange = "UPDATE tokens SET item = item + 10; UPDATE tokens SET item = 13 - item"
        try bench.tamper(exchange)
        #expect(await refusal { () throws(Refusal) in _ = try bench.read(.query("1")) } == .decode)
        try bench.tamper(exchange + "; UPDATE primary_keys SET item = 3 - item")
        #expect(
            await refusal { () throws(Refusal) in try await bench.add(.item("1")) } == .duplicateItem)
        #expect(try bench.secrets(.query(nil)) == ["1", "2"])
    }

    /// What a row says of its own tokens is not bound: the index leads to it as well.
    @VaultActor @Test func aRowThatHasLostItsTokensIsFound() async throws {
        try await fill()
        try bench.tamper("UPDATE background_items SET tokens = x''")
        #expect(try bench.secrets(.query("victim")) == ["victim"])
        #expect(try bench.secrets(.query("victim").adding("Label", "l")) == ["victim"])
        #expect(try bench.search(.query("victim").adding("Label", "m")).isEmpty)
        #expect(try bench.secrets(.query("before").adding("Label", "l")) == ["before"])
    }

    @VaultActor
    @Test(arguments: [
        "UPDATE tokens SET created = -1", "UPDATE tokens SET side = 9", "UPDATE tokens SET group_id = -1",
        "UPDATE tokens SET item = -item", "UPDATE primary_keys SET side = 9",
        "UPDATE primary_keys SET item = -1",
        "UPDATE groups SET epoch = -1", "UPDATE groups SET revision = -5", "UPDATE groups SET bytes = -1",
        "UPDATE groups SET bytes = 9223372036854775807",
        "UPDATE groups SET background = 9223372036854775807, foreground = 9223372036854775807",
        "UPDATE groups SET background = -9223372036854775808, foreground = -1", "DELETE FROM groups",
        "UPDATE groups SET name = 'a name with spaces'", "DELETE FROM numbers", "DELETE FROM tokens",
        "UPDATE background_items SET expires = -1", "UPDATE background_items SET size = -9223372036854775808",
        "UPDATE background_items SET size = 9223372036854775807",
        "UPDATE background_items SET expires = -9223372036854775808, item_class = 77",
    ])
    func noNumberInTheFileBringsTheBrokerDown(sql: String) async throws {
        try await bench.add(.item("1"), "1")
        try await bench.add(.item("2"), "2")
        bench.restart()
        try bench.tamper(sql)
        _ = await refusal { () throws(Refusal) in _ = try bench.secrets(.query(nil)) }
        _ = await refusal { () throws(Refusal) in _ = try bench.search(.query(nil)) }
        _ = await refusal { () throws(Refusal) in try await bench.add(.item("3")) }
        _ = await refusal { () throws(Refusal) in try await bench.store(.item("1")) }
        _ = await refusal { () throws(Refusal) in try await bench.update(.query("2"), [:], "y") }
        _ = try bench.vault.epoch(of: "g1")
        _ = try bench.vault.listGroups(.forTesting())
        _ = try await bench.check()
        _ = await refusal { () throws(Refusal) in try await bench.sweep() }
        _ = await refusal { () throws(Refusal) in try await bench.delete(.query("1")) }
        _ = await refusal { () throws(Refusal) in try await bench.logout(always: true) }
    }

    @VaultActor private func damage(_ account: Int, _ column: String = "attributes") throws {
        try bench.tamper("UPDATE background_items SET \(column) = zeroblob(300) WHERE id = \(account)")
    }

    /// K16, K17: what is damaged is passed over where there is more, and said to be where there is not.
    @VaultActor @Test(arguments: ["attributes", "secret"])
    func aDamagedItemAmongOthers(column: String) async throws {
        for account in ["1", "2", "3"] { try await bench.add(.item(account), account) }
        try damage(1, column)
        #expect(try bench.secret(.query(nil)) == "2")
        #expect(try bench.secrets(.query(nil)) == ["2", "3"])
        #expect(try bench.secrets(.query(nil).adding("Limit", .number(1))) == ["2"])
        #expect(try await bench.update(.query(nil), ["Comment": "c"]) == 2)
        #expect(try bench.accounts(.query(nil).adding("Comment", "c")) == ["2", "3"])
        #expect(
            await refusal { () throws(Refusal) in try await bench.update(.query("1"), ["Comment": "c"]) }
                == .decode)
        let report = try await bench.check()
        #expect(report.rows[.background] == 3 && report.damaged[.background] == 1)
        try await bench.sweep()
        #expect(try bench.number("SELECT count(*) FROM background_items") == 3)
        #expect(try await bench.delete(.query("1")) == 1)
        #expect(try await bench.check().damaged.isEmpty)
    }

    @VaultActor @Test(arguments: ["attributes", "secret"])
    func anAdditionAndAStoreTakeTheDamagedItemsPlace(column: String) async throws {
        for (round, isAddition) in [true, false].enumerated() {
            let first = try await bench.store(.item("a"), "x")
            try damage(Int(try bench.number("SELECT max(id) FROM background_items")!), column)
            bench.forgetNotices()
            let second =
                isAddition ? try await bench.add(.item("a"), "y") : try await bench.store(.item("a"), "y")
            #expect(second.created && second.reference != first.reference, "\(round)")
            #expect(second.revision > first.revision)
            #expect(try bench.secrets(.query("a")) == ["y"])
            #expect(bench.notices.count == 2)
        }
    }

    @VaultActor @Test func anItemMayTakeTheDamagedItemsKey() async throws {
        let first = try await bench.add(.item("1"), "1")
        try await bench.add(.item("2"), "2")
        try damage(2)
        try await bench.update(.query("1"), ["Account": "2"])
        #expect(try bench.read(.query("2")).attributes.reference == first.reference)
        #expect(try bench.number("SELECT count(*) FROM background_items") == 1)
    }

    /// A new secret needs nothing of the one that is damaged.
    @VaultActor @Test func anUpdateOfADamagedSecretRepairsIt() async throws {
        let stored = try await bench.add(.item("1"), "1")
        try damage(1, "secret")
        #expect(try await bench.update(.query("1"), [:], "new") == 1)
        #expect(try bench.secret(.reference(stored.reference)) == "new")
    }

    @VaultActor @Test func aLockedItemIsNeverTakenForDamaged() async throws {
        try await bench.setPasscode("1234")
        try await bench.add(.item("1", accessible: .whenUnlocked), "1")
        try bench.lock()
        try bench.tamper("UPDATE foreground_items SET attributes = zeroblob(300), secret = zeroblob(9)")
        #expect(
            await refusal { () throws(Refusal) in _ = try bench.read(.query("1")) } == .interactionNotAllowed)
        let report = try await bench.check()
        #expect(report.damaged.isEmpty && !report.isForegroundOpen)
        try await bench.unlock()
        #expect(await refusal { () throws(Refusal) in _ = try bench.read(.query("1")) } == .decode)
    }

    /// A row that goes while the check makes room for other calls is not damage.
    @VaultActor @Test func aRowDeletedDuringACheckIsNotDamaged() async throws {
        for account in 0..<200 { try await bench.add(.item("\(account)")) }
        bench.onBreath = { [weak bench] in try? bench?.tamper("DELETE FROM background_items WHERE id > 100") }
        let report = try await bench.check()
        #expect(report.damaged.isEmpty)
    }
}
