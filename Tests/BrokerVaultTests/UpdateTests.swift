import BrokerModel
import Testing

/// SEMANTICS 3.4 and the scenarios S041 to S061.
@Suite struct UpdateTests {
    let bench: Bench

    init() async throws { bench = try await Bench() }

    @VaultActor @Test func aNewSecretKeepsReferenceAndCreationAndMovesTheModification() async throws {
        let stored = try await bench.add(.item().adding("Label", "l"), "x")
        let created = bench.clock
        bench.clock += 5
        #expect(try await bench.update(.query(), [:], "y") == 1)
        let item = try bench.read(.query())
        #expect(item.secret.text == "y")
        #expect(item.attributes.reference == stored.reference && item.attributes.revision > stored.revision)
        #expect(item.attributes.created == created && item.attributes.modified == bench.clock)
        #expect(item.attributes.attributes[.label] == .text(Array("l".utf8)))
    }

    @VaultActor @Test func withoutASecretTheSecretStays() async throws {
        try await bench.add(.item(), "x")
        try await bench.update(.query(), ["Comment": "c"])
        let item = try bench.read(.query())
        #expect(item.secret.text == "x" && item.attributes.attributes[.comment] == .text(Array("c".utf8)))
    }

    @VaultActor @Test func modificationGrowsWhenTheClockStandsStillOrGoesBack() async throws {
        try await bench.add(.item())
        var last = try bench.read(.query()).attributes.modified
        for step: UInt64 in [0, 0, 3_600_000_000] {
            bench.clock -= step
            try await bench.update(.query(), [:], "y")
            let modified = try bench.read(.query()).attributes.modified
            #expect(modified > last)
            last = modified
        }
    }

    @VaultActor @Test func noMatchIsNotFound() async throws {
        #expect(
            await refusal { () throws(Refusal) in try await bench.update(.query(), [:], "y") }
                == .itemNotFound)
    }

    @VaultActor @Test func aChangedPrimaryKeyMovesTheItem() async throws {
        let stored = try await bench.add(.item("a"), "x")
        try await bench.update(.query("a"), ["Account": "b"])
        #expect(await refusal { () throws(Refusal) in _ = try bench.read(.query("a")) } == .itemNotFound)
        #expect(try bench.read(.query("b")).attributes.reference == stored.reference)
        #expect(
            await refusal { () throws(Refusal) in try await bench.update(.query("a"), ["Account": "b"]) }
                == .itemNotFound)
        try await bench.add(.item("a"))
    }

    @VaultActor @Test func aPrimaryKeyThatIsTakenIsRefusedAndNothingChanges() async throws {
        try await bench.add(.item("a"), "1")
        try await bench.add(.item("b"), "2")
        let change = await refusal { () throws(Refusal) in
            try await bench.update(.query("a"), ["Account": "b"], "3")
        }
        #expect(change == .duplicateItem)
        #expect(try bench.secret(.query("a")) == "1" && bench.secret(.query("b")) == "2")
    }

    @VaultActor @Test func everyMatchIsChanged() async throws {
        for account in ["1", "2", "3"] { try await bench.add(.item(account)) }
        try await bench.add(.item("4", service: "t"))
        #expect(try await bench.update(.query(nil), ["Comment": "c"]) == 3)
        #expect(
            try bench.accounts(WireDictionary(["Class": "generic-password", "Comment": "c"])) == [
                "1", "2", "3",
            ])
    }

    @VaultActor @Test func twoMatchesThatWouldBecomeOneAreRefusedTogether() async throws {
        try await bench.add(.item("1"), "1")
        try await bench.add(.item("2"), "2")
        let before = bench.notices.count
        #expect(
            await refusal { () throws(Refusal) in try await bench.update(.query(nil), ["Account": "z"]) }
                == .duplicateItem)
        #expect(try bench.accounts(.query(nil)) == ["1", "2"])
        #expect(bench.notices.count == before)
    }

    @VaultActor @Test func anAttributeOfAnotherClassIsRefused() async throws {
        try await bench.add(.item())
        #expect(
            await refusal { () throws(Refusal) in try await bench.update(.query(), ["Server": "h"]) }
                == .noSuchAttribute)
    }

    @VaultActor @Test func aMoveToAGroupOfTheCallersKeepsTheReference() async throws {
        let stored = try await bench.add(.item(), "x", as: .both)
        bench.forgetNotices()
        try await bench.update(.query(), ["AccessGroup": "g2"], as: .both)
        #expect(try bench.read(.query(), as: .two).attributes.reference == stored.reference)
        #expect(
            await refusal { () throws(Refusal) in _ = try bench.read(.query(), as: .one) } == .itemNotFound)
        let moved = try bench.read(.query(), as: .two).attributes
        #expect(
            bench.notices == [
                .itemChanged(
                    group: "g1", reference: stored.reference, change: .removed, revision: stored.revision,
                    side: .background, previousSide: .background),
                .itemChanged(
                    group: "g2", reference: stored.reference, change: .added, revision: moved.revision,
                    side: .background, previousSide: .background),
            ])
    }

    @VaultActor @Test func aMoveToAGroupThatIsNotTheCallersIsRefused() async throws {
        try await bench.add(.item())
        #expect(
            await refusal { () throws(Refusal) in try await bench.update(.query(), ["AccessGroup": "g2"]) }
                == .missingEntitlement)
        let noAdd = Who(groups: ["g1", "g2"], operations: [.update])
        #expect(
            await refusal { () throws(Refusal) in
                try await bench.update(.query(), ["AccessGroup": "g2"], as: noAdd)
            } == .missingEntitlement)
        #expect(try bench.secret(.query(), as: .one) == "x")
    }

    @VaultActor @Test func aMoveOntoAnItemIsRefused() async throws {
        try await bench.add(.item(), "1", as: .one)
        try await bench.add(.item(), "2", as: .two)
        let inOne = try WireDictionary.query().adding("AccessGroup", "g1")
        #expect(
            await refusal { () throws(Refusal) in
                try await bench.update(inOne, ["AccessGroup": "g2"], as: .both)
            } == .duplicateItem)
    }

    @VaultActor @Test func anotherClassMovesTheRowBetweenTheVaults() async throws {
        let stored = try await bench.add(.item(accessible: .whenUnlocked), "x")
        try await bench.update(.query(), ["Accessible": "after-first-unlock"])
        #expect(try bench.number("SELECT count(*) FROM foreground_items") == 0)
        let item = try bench.read(.query())
        #expect(item.secret.text == "x" && item.attributes.reference == stored.reference)
        #expect(item.attributes.protection == .accessible(.afterFirstUnlock))
    }

    @VaultActor @Test func becomingSynchronizableIsAnotherPrimaryKey() async throws {
        try await bench.add(.item(), "x")
        try await bench.update(.query(), ["Synchronizable": true])
        #expect(await refusal { () throws(Refusal) in _ = try bench.read(.query()) } == .itemNotFound)
        #expect(try bench.secret(.query().adding("Synchronizable", true)) == "x")
    }

    @VaultActor @Test func aThisDeviceOnlyClassAndSynchronizableExcludeOneAnother() async throws {
        try await bench.add(.item(accessible: .whenUnlockedThisDeviceOnly))
        #expect(
            await refusal { () throws(Refusal) in try await bench.update(.query(), ["Synchronizable": true]) }
                == .param)
    }

    @VaultActor @Test func anUpdateByReferenceIsOfThatItemAlone() async throws {
        let stored = try await bench.add(.item("1"))
        try await bench.add(.item("2"))
        #expect(try await bench.update(.reference(stored.reference), ["Service": "t"]) == 1)
        #expect(try bench.accounts(.query(nil)) == ["2"])
        #expect(try bench.read(.reference(stored.reference)).attributes.attributes[.service] == .text([0x74]))
    }

    @VaultActor @Test func compareAndSwapMustHoldForEveryMatch() async throws {
        let first = try await bench.add(.item("1"), "x")
        try await bench.add(.item("2"), "x")
        let change = await refusal { () throws(Refusal) in
            try await bench.update(.query(nil), ["IfRevision": .time(first.revision)], "y")
        }
        #expect(change == .revisionMismatch)
        #expect(try bench.secrets(.query(nil)) == ["x", "x"])
        try await bench.update(.query("1"), ["IfRevision": .time(first.revision)], "y")
        #expect(try bench.secrets(.query(nil)) == ["y", "x"])
    }

    @VaultActor @Test func aGatedItemIsNotChangedWithoutAPrompt() async throws {
        let gated = WireDictionary.Value.accessControl(
            protection: "after-first-unlock", flags: ["user-presence"])
        try await bench.add(.item("1", accessible: nil).adding("AccessControl", gated))
        #expect(
            await refusal { () throws(Refusal) in try await bench.update(.query("1"), [:], "y") }
                == .interactionNotAllowed)
    }

    @VaultActor @Test func attributesOfOneItemStayWithinTheirLimit() async throws {
        let long = String(repeating: "l", count: 60 << 10)
        try await bench.add(
            .item().adding("Label", .text(long)).adding("Comment", .text(long)).adding(
                "Description", .text(long)))
        try await bench.update(.query(), ["Generic": .text(long)])
        #expect(
            await refusal { () throws(Refusal) in
                try await bench.update(.query(), ["Account": .text(long)])
            } == .tooLarge)
    }
}
