import BrokerModel
import Testing

@testable import BrokerVault

/// SEMANTICS 5.3, 5.4 and the scenarios S098 to S114.
@Suite struct LockStateTests {
    /// A store with a passcode and one item of each of the classes.
    @VaultActor private func bench(_ state: DeviceState) async throws -> Bench {
        let bench = try Bench()
        try await bench.setPasscode("1234")
        for accessibility in Accessibility.allCases {
            try await bench.add(.item(accessibility.name, accessible: accessibility), accessibility.name)
        }
        if state == .locked { try bench.lock() }
        if state == .beforeFirstUnlock { bench.restart() }
        try bench.vault.open()
        #expect(bench.vault.state == state)
        bench.forgetNotices()
        return bench
    }

    /// What a call on an item of the class meets.
    private func expected(_ state: DeviceState, _ accessibility: Accessibility) -> Refusal.Kind? {
        switch (state, accessibility.side) {
        case (.unlocked, _), (.locked, .background): nil
        default: .interactionNotAllowed
        }
    }

    private static let states = [DeviceState.beforeFirstUnlock, .locked, .unlocked]

    @VaultActor @Test(arguments: states, Accessibility.allCases)
    func everyCallOnAnItem(state: DeviceState, accessibility: Accessibility) async throws {
        let bench = try await bench(state)
        let query = try WireDictionary.query(accessibility.name)
        let item = try WireDictionary.item(accessibility.name, accessible: accessibility)
        let new = try WireDictionary.item("new", accessible: accessibility)
        let wanted = expected(state, accessibility)
        #expect(await refusal { () throws(Refusal) in _ = try bench.read(query) } == wanted)
        #expect(await refusal { () throws(Refusal) in _ = try bench.secrets(query) } == wanted)
        #expect(await refusal { () throws(Refusal) in _ = try bench.search(query) } == wanted)
        #expect(await refusal { () throws(Refusal) in try await bench.add(new) } == wanted)
        #expect(
            await refusal { () throws(Refusal) in try await bench.add(item) } == wanted ?? .duplicateItem)
        #expect(await refusal { () throws(Refusal) in try await bench.store(item, "s") } == wanted)
        #expect(await refusal { () throws(Refusal) in try await bench.update(query, [:], "u") } == wanted)
        let deletion: Refusal.Kind? = state == .beforeFirstUnlock ? .interactionNotAllowed : nil
        #expect(await refusal { () throws(Refusal) in try await bench.delete(query) } == deletion)
        try await bench.unlock()
        let left = try bench.accounts(query)
        #expect(left == (state == .beforeFirstUnlock ? [accessibility.name] : []))
    }

    @VaultActor @Test(arguments: states)
    func anAbsentItemIsNotFoundOnceTheIndexIsThere(state: DeviceState) async throws {
        let bench = try await bench(state)
        let wanted: Refusal.Kind = state == .beforeFirstUnlock ? .interactionNotAllowed : .itemNotFound
        #expect(await refusal { () throws(Refusal) in _ = try bench.read(.query("absent")) } == wanted)
        #expect(
            await refusal { () throws(Refusal) in try await bench.update(.query("absent"), [:], "u") }
                == wanted)
        #expect(await refusal { () throws(Refusal) in try await bench.delete(.query("absent")) } == wanted)
    }

    @VaultActor @Test func aLockedItemAmongOthersRefusesTheWholeCall() async throws {
        let bench = try await bench(.locked)
        #expect(
            await refusal { () throws(Refusal) in _ = try bench.secrets(.query(nil)) }
                == .interactionNotAllowed)
        #expect(
            await refusal { () throws(Refusal) in _ = try bench.search(.query(nil)) }
                == .interactionNotAllowed)
        #expect(
            await refusal { () throws(Refusal) in try await bench.update(.query(nil), [:], "u") }
                == .interactionNotAllowed)
        let background = try WireDictionary.query(nil).adding("Accessible", "after-first-unlock")
        #expect(try bench.secrets(background) == ["after-first-unlock"])
        #expect(
            try bench.accounts(.query(nil), as: .background)
                == ["after-first-unlock", "after-first-unlock-this-device-only"])
        #expect(try await bench.delete(.query(nil)) == 5)
        try await bench.unlock()
        #expect(try bench.search(.query(nil)).isEmpty)
    }

    @VaultActor @Test func theClassThatAnItemHasAndTheOneItGetsAreBothNeeded() async throws {
        let bench = try await bench(.locked)
        let up = await refusal { () throws(Refusal) in
            try await bench.update(.query("after-first-unlock"), ["Accessible": "when-unlocked"])
        }
        #expect(up == .interactionNotAllowed)
        let over = try WireDictionary.item("when-unlocked", accessible: .afterFirstUnlock)
        #expect(await refusal { () throws(Refusal) in try await bench.store(over) } == .interactionNotAllowed)
        #expect(
            await refusal { () throws(Refusal) in try await bench.add(over) } == .interactionNotAllowed)
        let onto = await refusal { () throws(Refusal) in
            try await bench.update(.query("after-first-unlock"), ["Account": "when-unlocked"])
        }
        #expect(onto == .interactionNotAllowed)
        #expect(try bench.secret(.query("after-first-unlock")) == "after-first-unlock")
    }

    @VaultActor @Test func aBackgroundCallerMeetsADuplicateWhereTheLockedItemIsForeground() async throws {
        let bench = try await bench(.locked)
        let item = try WireDictionary.item("when-unlocked", accessible: .afterFirstUnlock)
        #expect(
            await refusal { () throws(Refusal) in try await bench.add(item, as: .background) }
                == .duplicateItem)
        #expect(
            await refusal { () throws(Refusal) in try await bench.store(item, as: .background) }
                == .interactionNotAllowed)
        let onto = await refusal { () throws(Refusal) in
            try await bench.update(
                .query("after-first-unlock"), ["Account": "when-unlocked"], as: .background)
        }
        #expect(onto == .duplicateItem)
        #expect(
            await refusal { () throws(Refusal) in
                try await bench.delete(.query("when-unlocked"), as: .background)
            }
                == .itemNotFound)
    }

    @VaultActor @Test func anItemThatMovedToTheBackgroundIsReadableWhenLocked() async throws {
        let bench = try await bench(.unlocked)
        try await bench.update(.query("when-unlocked"), ["Accessible": "after-first-unlock"])
        try bench.lock()
        #expect(try bench.secret(.query("when-unlocked")) == "when-unlocked")
    }

    @VaultActor @Test func aSynchronizableItemDeletedWhenLockedLeavesItsTombstone() async throws {
        let bench = try await bench(.unlocked)
        try await bench.add(.item("sync", accessible: .whenUnlocked).adding("Synchronizable", true))
        try bench.lock()
        #expect(try await bench.delete(.query("sync").adding("Synchronizable", true)) == 1)
        #expect(try bench.number("SELECT count(*) FROM tombstones") == 1)
        #expect(try bench.number("SELECT count(*) FROM tokens") == 15)
    }

    @VaultActor @Test func logoutWorksWhenLocked() async throws {
        let bench = try await bench(.locked)
        #expect(try await bench.logout("s").deleted == 5)
        try await bench.unlock()
        #expect(try bench.search(.query(nil)).isEmpty)
    }

    /// B059: the same values and references in every round.
    @VaultActor @Test func lockAndUnlockAreToldOnceEachAndChangeNothing() async throws {
        let bench = try await bench(.unlocked)
        let reference = try bench.read(.query("when-unlocked")).attributes.reference
        for _ in 0..<3 {
            try bench.lock()
            try bench.lock()
            try await bench.unlock()
            try await bench.unlock()
            #expect(try bench.secret(.reference(reference)) == "when-unlocked")
        }
        #expect(
            bench.notices
                == [Notice](repeating: .lockStateChanged(.locked), count: 6).enumerated().map {
                    $0.offset % 2 == 0 ? $0.element : .lockStateChanged(.unlocked)
                })
    }

    @VaultActor @Test func lockBeforeFirstUnlockDoesNothing() async throws {
        let bench = try await bench(.beforeFirstUnlock)
        try bench.lock()
        #expect(bench.vault.state == .beforeFirstUnlock && bench.notices.isEmpty)
    }

    /// A write that came before the lock and runs after it has no key any more.
    @VaultActor @Test func aWriteThatWaitedIsJudgedByTheStateItRunsIn() async throws {
        let worker = HeldWorker()
        let bench = try Bench(worker)
        try await bench.setPasscode("1234")
        await worker.hold()
        let first = Task.immediate {
            await refusal { () throws(Refusal) in
                try await bench.add(.item("1", accessible: .whenUnlocked))
            }
        }
        let second = Task.immediate {
            await refusal { () throws(Refusal) in
                try await bench.add(.item("2", accessible: .whenUnlocked))
            }
        }
        try bench.lock()
        await worker.release()
        #expect(await first.value == nil)
        #expect(await second.value == .interactionNotAllowed)
        try await bench.unlock()
        #expect(try bench.accounts(.query(nil)) == ["1"])
    }

    @VaultActor @Test func aLockThatComesDuringAnUnlockWins() async throws {
        let derivation = HeldWorker()
        let bench = try Bench(InlineWorker(), derivation: derivation)
        try await bench.setPasscode("1234")
        try bench.lock()
        await derivation.hold()
        let before = await derivation.jobs
        let unlock = Task.immediate { await refusal { () throws(Refusal) in try await bench.unlock() } }
        while await derivation.jobs == before { await Task.yield() }
        try bench.lock()
        await derivation.release()
        #expect(await unlock.value == .interactionNotAllowed)
        #expect(bench.vault.state == .locked)
    }

    // The keys stay in memory.
    @VaultActor private func loseStore(_ bench: Bench) async throws {
        try bench.tamper("DELETE FROM keybag_slots")
        let unreadable = Refusal(.notAvailable, "as of a disk that went")
        _ = await refusal { () throws(Refusal) in
            try bench.vault.check { () throws(Refusal) in throw unreadable }
        }
        #expect(!bench.vault.isOpen && bench.vault.state == .unlocked)
    }

    @VaultActor @Test func aCalledLockNeedsNoStore() async throws {
        let bench = try Bench()
        try await bench.setPasscode("1234")
        try await loseStore(bench)
        try bench.lock()
        #expect(bench.vault.state == .locked)
    }

    /// The lock of a session comes from nobody's call, and finds the store in whatever state it is in.
    @VaultActor @Test func aSessionsLockNeedsNeitherTheStoreNorAPasscode() async throws {
        let bench = try Bench()
        try await bench.add(.item("1", accessible: .whenUnlocked), "1")
        #expect(!bench.lockForNobody())
        #expect(bench.vault.state == .unlocked && bench.lockNotices.isEmpty)
        #expect(try bench.secrets(.query(nil)) == ["1"])
        try await bench.setPasscode("1234")
        try await loseStore(bench)
        #expect(bench.lockForNobody())
        #expect(bench.vault.state == .locked && !bench.lockForNobody())
        #expect(bench.lockNotices == [.lockStateChanged(.locked)])
    }

    @VaultActor @Test func aSessionsLockBeforeTheFirstUnlockWinsOverIt() async throws {
        let derivation = HeldWorker()
        let bench = try Bench(InlineWorker(), derivation: derivation)
        try await bench.setPasscode("1234")
        bench.restart()
        try bench.vault.open()
        await derivation.hold()
        let before = await derivation.jobs
        let first = Task.immediate { await refusal { () throws(Refusal) in try await bench.unlock() } }
        let behind = Task.immediate { await refusal { () throws(Refusal) in try await bench.unlock() } }
        while await derivation.jobs == before { await Task.yield() }
        #expect(!bench.lockForNobody())
        await derivation.release()
        #expect(await first.value == .interactionNotAllowed)
        #expect(await behind.value == .interactionNotAllowed)
        #expect(bench.vault.state == .locked)
        try await bench.unlock()
        #expect(bench.vault.state == .unlocked)
    }

    /// There was nothing that it could lock, and there is by the time the passcode is set.
    @VaultActor @Test func aSessionsLockWhileThePasscodeIsSetWinsOverThat() async throws {
        let derivation = HeldWorker()
        let bench = try Bench(InlineWorker(), derivation: derivation)
        try bench.vault.open()
        await derivation.hold()
        let before = await derivation.jobs
        let setting = Task.immediate {
            await refusal { () throws(Refusal) in try await bench.setPasscode("1234") }
        }
        while await derivation.jobs == before { await Task.yield() }
        #expect(!bench.lockForNobody())
        await derivation.release()
        #expect(await setting.value == nil)
        #expect(bench.vault.state == .locked)
        #expect(bench.lockNotices == [.lockStateChanged(.locked)])
    }

    /// Whoever holds the machine awake for the wipe waits for keys that an unlock under way still has.
    @VaultActor @Test func whatTheLockOvertookHasEndedWhenTheVaultHasSettled() async throws {
        let derivation = HeldWorker()
        let bench = try Bench(InlineWorker(), derivation: derivation)
        try await bench.setPasscode("1234")
        await derivation.hold()
        let before = await derivation.jobs
        let unlock = Task.immediate { await refusal { () throws(Refusal) in try await bench.unlock() } }
        while await derivation.jobs == before { await Task.yield() }
        #expect(bench.lockForNobody())
        var order: [String] = []
        let settled = Task.immediate {
            await bench.vault.settle()
            order.append("settled")
        }
        #expect(order.isEmpty)
        await derivation.release()
        #expect(await unlock.value == .interactionNotAllowed)
        await settled.value
        #expect(order == ["settled"] && bench.vault.state == .locked)
    }

    @VaultActor @Test func logoutBeforeFirstUnlockIsSignalledAtOnceAndDeletesBeforeAnyRead() async throws {
        let bench = try await bench(.beforeFirstUnlock)
        let outcome = try await bench.logout("s")
        #expect(outcome.deleted == 0 && outcome.epoch == 1)
        #expect(bench.notices == [.loggedOut(group: "g1", service: "s", epoch: 1, reason: "test")])
        try await bench.logout("")
        bench.restart()
        try await bench.unlock()
        #expect(try bench.search(.query(nil)).isEmpty)
        #expect(try bench.number("SELECT count(*) FROM pending_logouts") == 0)
        #expect(try bench.vault.epoch(of: "g1") == 2)
        try await bench.add(.item())
        bench.restart()
        try await bench.unlock()
        #expect(try bench.accounts(.query()) == ["a"])
    }

    @VaultActor @Test func logoutBeforeFirstUnlockIsCarriedOutWhenThePasscodeGoes() async throws {
        let bench = try await bench(.beforeFirstUnlock)
        try await bench.logout("s")
        try await bench.removePasscode("1234")
        #expect(try bench.search(.query(nil)).isEmpty)
    }

    /// A sign-out that comes while the first unlock is on its way is carried out, whichever is faster.
    @VaultActor @Test(arguments: 0..<6)
    func logoutDuringTheFirstUnlockIsCarriedOut(delay: Int) async throws {
        let worker = HeldWorker()
        let bench = try Bench(worker)
        try await bench.setPasscode("1234")
        try await bench.add(.item(), "x")
        try await bench.add(.item("b", service: "t"), "x")
        bench.restart()
        try bench.vault.open()
        try await bench.logout("t")
        await worker.hold()
        let early = Task.immediate { await refusal { () throws(Refusal) in try await bench.logout("none") } }
        let first = Task.immediate { await refusal { () throws(Refusal) in try await bench.logout("s") } }
        let unlock = Task.immediate { await refusal { () throws(Refusal) in try await bench.unlock() } }
        for _ in 0..<delay {
            await worker.releaseOnce()
            for _ in 0..<20 { await Task.yield() }
        }
        let late = Task.immediate { await refusal { () throws(Refusal) in try await bench.logout("t") } }
        await worker.release()
        #expect(await early.value == nil)
        #expect(await first.value == nil)
        #expect(await late.value == nil)
        #expect(await unlock.value == nil)
        #expect(try bench.search(.query(nil, service: nil)).isEmpty)
        #expect(try bench.number("SELECT count(*) FROM pending_logouts") == 0)
    }
}
