import BrokerModel
import Testing

@testable import BrokerVault

/// `Expires`, with clocks that jump.
@Suite struct ExpiryTests {
    let bench: Bench

    init() async throws { bench = try await Bench() }

    @VaultActor @discardableResult private func addExpiring(
        _ account: String = "a", after time: UInt64 = 10, synchronizable: Bool = false
    ) async throws(Refusal) -> StoredItem {
        try await bench.add(
            .item(account).adding("Expires", .time(bench.clock + time)).adding(
                "Synchronizable", .flag(synchronizable)), "x")
    }

    @VaultActor @Test func anItemIsThereUntilItsTimeAndAbsentToEveryCallFromThenOn() async throws {
        let stored = try await addExpiring()
        bench.clock += 9
        #expect(try bench.secret(.query()) == "x")
        bench.clock += 1
        #expect(await refusal { () throws(Refusal) in _ = try bench.read(.query()) } == .itemNotFound)
        #expect(
            await refusal { () throws(Refusal) in _ = try bench.read(.reference(stored.reference)) }
                == .itemNotFound)
        #expect(try bench.search(.query()).isEmpty)
        #expect(
            await refusal { () throws(Refusal) in try await bench.update(.query(), [:], "y") }
                == .itemNotFound)
        #expect(await refusal { () throws(Refusal) in try await bench.delete(.query()) } == .itemNotFound)
    }

    @VaultActor @Test func onceSeenExpiredItStaysSoWhateverTheClockDoes() async throws {
        try await addExpiring()
        bench.clock += 10
        #expect(try bench.search(.query()).isEmpty)
        #expect(bench.vault.needsSweep)
        bench.clock -= 1_000_000
        #expect(try bench.search(.query()).isEmpty)
        #expect(await refusal { () throws(Refusal) in _ = try bench.read(.query()) } == .itemNotFound)
        #expect(try await bench.sweep() == nil)
        #expect(!bench.vault.needsSweep)
        #expect(try bench.number("SELECT count(*) FROM background_items") == 0)
    }

    /// It was not due when the sweep looked, and is in the past when the flush is through.
    @VaultActor @Test func whatComesDueWhileASweepIsFlushedIsNext() async throws {
        let worker = HeldWorker()
        let bench = try Bench(worker)
        for (account, after) in [("a", 10), ("b", 20)] as [(String, UInt64)] {
            try await bench.add(.item(account).adding("Expires", .time(bench.clock + after)))
        }
        let later = bench.clock + 20
        bench.clock += 10
        await worker.hold()
        let sweep = Task.immediate { try await bench.sweep() }
        bench.clock += 10
        await worker.release()
        #expect(try await sweep.value == later)
        #expect(try await bench.sweep() == nil)
        #expect(try bench.number("SELECT count(*) FROM background_items") == 0)
    }

    @VaultActor @Test func aClockThatOnlyWentPastAndBackUnseenTakesNothing() async throws {
        try await addExpiring()
        bench.clock += 100
        bench.clock -= 100
        #expect(try bench.secret(.query()) == "x")
    }

    @VaultActor @Test(arguments: [true, false])
    func addAndStoreReplaceAnExpiredItem(isAddition: Bool) async throws {
        let first = try await addExpiring()
        bench.clock += 10
        let item = try WireDictionary.item().adding("IfRevision", isAddition ? nil : .time(0))
        let second = isAddition ? try await bench.add(item, "y") : try await bench.store(item, "y")
        #expect(second.created && second.reference != first.reference && second.revision > first.revision)
        #expect(try bench.secrets(.query()) == ["y"])
        bench.clock -= 5
        #expect(try bench.secrets(.query()) == ["y"])
    }

    @VaultActor @Test func anItemMayTakeTheExpiredItemsKey() async throws {
        try await addExpiring("a")
        try await bench.add(.item("b"), "b")
        bench.clock += 10
        try await bench.update(.query("b"), ["Account": "a"])
        #expect(try bench.secrets(.query("a")) == ["b"])
    }

    @VaultActor @Test func theSweepTakesWhatIsDueAndTellsWhenToComeAgain() async throws {
        try await addExpiring("1", after: 10)
        try await addExpiring("2", after: 20)
        try await bench.add(.item("3"))
        bench.forgetNotices()
        let start = bench.clock
        #expect(try await bench.sweep() == start + 10)
        #expect(bench.notices.isEmpty)
        bench.clock += 10
        #expect(try await bench.sweep() == start + 20)
        #expect(bench.notices.count == 1 && bench.vault.needsCheckpoint)
        #expect(try bench.accounts(.query(nil)) == ["2", "3"])
        #expect(try bench.number("SELECT background FROM groups") == 2)
    }

    @VaultActor @Test func theSweepWorksInEveryLockState() async throws {
        try await bench.setPasscode("1234")
        try await bench.add(
            .item("1", accessible: .whenUnlocked).adding("Expires", .time(bench.clock + 10)), "x")
        try await addExpiring("2")
        try bench.lock()
        bench.clock += 10
        try await bench.sweep()
        #expect(try bench.number("SELECT count(*) FROM foreground_items") == 0)
        bench.clock -= 10
        try await addExpiring("3")
        bench.clock += 10
        bench.restart()
        try await bench.sweep()
        #expect(try bench.number("SELECT count(*) FROM background_items") == 0)
    }

    /// A row that cannot be read stays for whoever looks into it, and does not call the sweeper again.
    @VaultActor @Test func aRowThatCannotBeSweptDoesNotKeepTheSweeperBusy() async throws {
        try await addExpiring()
        try bench.tamper("UPDATE background_items SET item_class = 99")
        bench.clock += 20
        #expect(try await bench.sweep() == nil)
        #expect(try bench.number("SELECT count(*) FROM background_items") == 1)
    }

    @VaultActor @Test func damageThatLooksLikeExpiryDeletesNothing() async throws {
        try await bench.add(.item(), "x")
        try bench.tamper("UPDATE background_items SET expires = 5")
        #expect(try bench.search(.query()).isEmpty)
        try await bench.sweep()
        #expect(try bench.number("SELECT count(*) FROM background_items") == 1)
        #expect(try await bench.check().damaged[.background] == 1)
    }

    @VaultActor @Test func anExpiryMayBeMoved() async throws {
        try await addExpiring()
        try await bench.update(.query(), ["Expires": .time(bench.clock + 100)])
        bench.clock += 50
        #expect(try bench.secret(.query()) == "x")
    }
}
