import BrokerModel
import Testing

@testable import BrokerVault

/// SEMANTICS 3.3: what a query finds, and in which order.
@Suite struct ReadTests {
    let bench: Bench

    init() async throws { bench = try await Bench() }

    @VaultActor @Test func nothingIsNotFoundButAnEmptySearchIsNoError() async throws {
        #expect(await refusal { () throws(Refusal) in _ = try bench.read(.query()) } == .itemNotFound)
        #expect(await refusal { () throws(Refusal) in _ = try bench.secrets(.query()) } == .itemNotFound)
        #expect(try bench.search(.query()).isEmpty)
    }

    @VaultActor @Test func oldestIsByCreationThenByOrderOfAdding() async throws {
        try await bench.add(.item("2"), "2")
        try await bench.add(.item("3"), "3", as: .two)
        bench.clock -= 10
        try await bench.add(.item("1"), "1", as: .two)
        #expect(try bench.secrets(.query(nil), as: .both) == ["1", "2", "3"])
        #expect(try bench.secrets(.query(nil, service: nil), as: .both) == ["1", "2", "3"])
        #expect(try bench.secret(.query(nil), as: .both) == "1")
        #expect(try bench.secrets(.query(nil).adding("Limit", .number(2)), as: .both) == ["1", "2"])
        #expect(try bench.accounts(.query(nil).adding("Limit", .number(1)), as: .both) == ["1"])
    }

    @VaultActor @Test func theOrderStaysThroughUpdateStoreAndMove() async throws {
        for account in ["1", "2", "3"] { try await bench.add(.item(account, accessible: .whenUnlocked), "x") }
        bench.clock += 1
        try await bench.update(.query("1"), ["Accessible": "after-first-unlock"], "y")
        try await bench.store(.item("2"), "y")
        #expect(try bench.accounts(.query(nil)) == ["1", "2", "3"])
    }

    @VaultActor @Test func everyAttributeFiltersByItselfAndWithOthers() async throws {
        let all: KeyValuePairs<String, WireDictionary.Value> = [
            "Server": "h", "Account": "a", "SecurityDomain": "d", "Protocol": "https",
            "AuthenticationType": "digest", "Path": "/p", "Port": .number(443), "Generic": .bytes([1, 0]),
            "Label": "l", "Description": "e", "Comment": "c", "Creator": .number(1), "Type": .number(2),
            "Invisible": true, "Negative": false, "FreshUntil": .time(5),
        ]
        var item = try WireDictionary(["Class": "internet-password"])
        for (key, value) in all { try item.append(key, value) }
        try await bench.add(item, "x")
        try await bench.add(WireDictionary(["Class": "internet-password", "Account": "other"]), "y")
        for (key, value) in all {
            let query = try WireDictionary(["Class": "internet-password"]).adding(key, value)
            #expect(try bench.secrets(query) == ["x"], "\(key)")
        }
        #expect(try bench.secrets(item) == ["x"])
        #expect(try bench.search(item.adding("Created", .time(bench.clock))).count == 1)
        #expect(try bench.search(item.adding("Created", .time(bench.clock + 1))).isEmpty)
    }

    /// The rarest attribute by name is the commonest by number here.
    @VaultActor @Test func oneOfManyThatShareAnAccountIsFound() async throws {
        func item(_ server: String) throws -> WireDictionary {
            try WireDictionary(["Class": "internet-password", "Account": "alice", "Server": .text(server)])
        }
        let servers = (1...9).map { "h\($0)" }
        for server in servers { try await bench.add(item(server).adding("Type", .number(1)), server) }
        for server in servers { #expect(try bench.secrets(item(server)) == [server]) }
        let query = try WireDictionary(["Class": "internet-password", "Account": "alice"])
        #expect(try bench.secrets(query.adding("Type", .number(1))) == servers)
        #expect(try bench.search(query.adding("Type", .number(2))).isEmpty)
        #expect(try bench.secrets(query) == servers)
    }

    @VaultActor @Test func timesAndRevisionsFilterExactly() async throws {
        let stored = try await bench.add(.item().adding("Expires", .time(bench.clock + 10)))
        let exact: KeyValuePairs<String, UInt64> = [
            "Created": bench.clock, "Modified": bench.clock, "Revision": stored.revision,
            "Expires": bench.clock + 10,
        ]
        for (key, value) in exact {
            #expect(try bench.search(.query().adding(key, .time(value))).count == 1, "\(key)")
            #expect(try bench.search(.query().adding(key, .time(value + 1))).isEmpty, "\(key)")
        }
    }

    @VaultActor @Test func theClassOfProtectionFilters() async throws {
        try await bench.add(.item("1", accessible: .whenUnlocked), "1")
        try await bench.add(.item("2", accessible: .afterFirstUnlock), "2")
        #expect(try bench.secrets(.query(nil).adding("Accessible", "after-first-unlock")) == ["2"])
        #expect(try bench.search(.query("1").adding("Accessible", "after-first-unlock")).isEmpty)
    }

    /// S020, K26: a returned dictionary is a query.
    @VaultActor @Test func whatSearchGivesFindsTheItemAgain() async throws {
        try await bench.add(.item().adding("Label", "l"), "x")
        let found = try bench.search(.query())[0]
        var query = try WireDictionary([
            "Class": "generic-password", "AccessGroup": .text(found.accessGroup.name),
            "Accessible": .text(found.protection.accessibility.name), "Synchronizable": false,
            "Created": .time(found.created), "Modified": .time(found.modified),
        ])
        for pair in found.attributes.pairs {
            try query.append(pair.key.name, .text(pair.value.blob ?? []))
        }
        #expect(try bench.secrets(query) == ["x"])
    }

    @VaultActor @Test func aReferenceFindsItsItemWhateverItsSynchronizability() async throws {
        let stored = try await bench.add(.item().adding("Synchronizable", true), "x")
        #expect(try bench.secrets(.reference(stored.reference)) == ["x"])
        #expect(
            await refusal { () throws(Refusal) in _ = try bench.read(.reference(stored.reference), as: .two) }
                == .itemNotFound)
        try await bench.delete(.reference(stored.reference))
        #expect(
            await refusal { () throws(Refusal) in _ = try bench.read(.reference(stored.reference)) }
                == .itemNotFound)
    }

    @VaultActor @Test func gatedItemsRefuseOrAreLeftOut() async throws {
        let gated = WireDictionary.Value.accessControl(protection: "when-unlocked", flags: ["biometry-any"])
        try await bench.add(.item("1", accessible: nil).adding("AccessControl", gated), "1")
        try await bench.add(.item("2"), "2")
        for body in [bench.secrets, bench.accounts]
            as [@VaultActor (WireDictionary, Who) throws(Refusal) -> [String]]
        {
            #expect(
                await refusal { () throws(Refusal) in _ = try body(.query(nil), .one) }
                    == .interactionNotAllowed)
            #expect(try body(.query(nil).adding("SkipGated", true), .one) == ["2"])
        }
        #expect(
            await refusal { () throws(Refusal) in _ = try bench.read(.query(nil)) } == .interactionNotAllowed)
        #expect(
            await refusal { () throws(Refusal) in _ = try bench.secrets(.query("1").adding("SkipGated", true))
            }
                == .itemNotFound)
    }

    @VaultActor @Test func aKeyThatMayBeUsedAloneIsNotRead() async throws {
        let usable = WireDictionary.Value.accessControl(
            protection: "when-unlocked", flags: ["private-key-usage"])
        try await bench.add(.item(accessible: nil).adding("AccessControl", usable))
        #expect(await refusal { () throws(Refusal) in _ = try bench.read(.query()) } == .authFailed)
        #expect(try bench.accounts(.query()) == ["a"])
    }

    @VaultActor @Test func aReplyThatIsTooLargeIsRefusedAndALimitHelps() async throws {
        let secret = String(repeating: "s", count: 1 << 20)
        for account in 0..<17 { try await bench.add(.item("\(account)"), secret) }
        #expect(await refusal { () throws(Refusal) in _ = try bench.secrets(.query(nil)) } == .tooLarge)
        #expect(try bench.secrets(.query(nil).adding("Limit", .number(15))).count == 15)
        // Attributes alone are a small reply, however large the secrets are.
        #expect(try bench.accounts(.query(nil)).count == 17)
    }

    /// The secrets of all other items are damaged, and nobody notices.
    @VaultActor @Test func noSecretIsDecryptedThatIsNotReturned() async throws {
        for account in ["1", "2", "3"] { try await bench.add(.item(account), account) }
        try bench.tamper("UPDATE background_items SET secret = zeroblob(200) WHERE id > 1")
        #expect(try bench.accounts(.query(nil)) == ["1", "2", "3"])
        #expect(try bench.secret(.query(nil)) == "1")
        #expect(try bench.secrets(.query(nil).adding("Limit", .number(1))) == ["1"])
        try bench.tamper("UPDATE background_items SET secret = zeroblob(200)")
        #expect(try await bench.delete(.query(nil)) == 3)
    }

    /// A commit that lands while a call goes over the rows is not seen by half.
    @VaultActor @Test func aCallSeesOneStateOfTheStore() async throws {
        for account in ["1", "2"] { try await bench.add(.item(account), "old") }
        let other = try Bench(in: bench.folder)
        let grant = Who.one
        var seen: [UInt64] = []
        let store = try bench.vault.openStore()
        try await other.update(.query("1"), ["Label": "first"])
        let query = try Query(.query(nil), for: .list)
        try bench.vault.selection(store.reading, store).rows(
            query, grant.grant(), withSecret: false, seenExpired: &bench.vault.seenExpired
        ) { (row) throws(Refusal) in
            seen.append(row.header.revision)
            do {
                try bench.tamper("UPDATE background_items SET revision = 77")
            } catch {
                Issue.record("the other connection could not write")
            }
            return .next
        }
        #expect(seen == [3, 2])
    }
}
