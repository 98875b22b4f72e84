import BrokerModel
import Sodium
import Testing

@testable import BrokerVault

/// The recovery key: what it keeps, what is lost, and that no more is lost than was agreed to.
@Suite struct RecoveryTests {
    let bench: Bench

    init() async throws { bench = try await Bench() }

    private static let all = Set(Accessibility.allCases.map(\.name))
    private static let migratable = Set(Accessibility.allCases.filter(\.isMigratable).map(\.name))
    private static let background = Set(Accessibility.allCases.filter { $0.side == .background }.map(\.name))

    @VaultActor private func expectReadable(_ names: Set<String>) async throws {
        let found = try await bench.readable()
        #expect(found.names == names)
        #expect(found.damaged == 0)
    }

    // MARK: The slot

    @VaultActor @Test func aNewStoreHasNone() async throws {
        try bench.vault.open()
        #expect(!bench.vault.isRecoveryKeySet)
        #expect(await refusal { () throws(Refusal) in _ = try bench.preview() } == .notAvailable)
        #expect(
            await refusal { () throws(Refusal) in try await bench.removeRecoveryKey("") } == .notAvailable)
        #expect(
            await refusal { () throws(Refusal) in try await bench.recover(.random()) } == .notAvailable)
    }

    @VaultActor @Test func itIsMadeInEveryStateAndChangesNone() async throws {
        try await bench.setPasscode("1234")
        _ = try await bench.createRecoveryKey()
        #expect(bench.vault.state == .unlocked && bench.vault.isRecoveryKeySet)
        try bench.lock()
        _ = try await bench.createRecoveryKey()
        #expect(bench.vault.state == .locked)
        bench.restart()
        try bench.vault.open()
        #expect(bench.vault.isRecoveryKeySet)
        _ = try await bench.createRecoveryKey()
        #expect(bench.vault.state == .beforeFirstUnlock)
        #expect(try bench.slots() == [2, 4, 2, 3])
        try await bench.removeRecoveryKey()
        #expect(bench.vault.state == .beforeFirstUnlock && !bench.vault.isRecoveryKeySet)
        #expect(try bench.slots() == [1, 0, 0, 3])
        try await bench.unlock()
    }

    @VaultActor @Test func aWrongPasscodeMakesAndRemovesNone() async throws {
        let key = try await bench.makeRecoverable()
        let before = try bench.slots()
        let calls: [(Bench) async throws(Refusal) -> Void] = [
            { (bench) throws(Refusal) in _ = try await bench.createRecoveryKey("wrong") },
            { (bench) throws(Refusal) in try await bench.removeRecoveryKey("wrong") },
            { (bench) throws(Refusal) in try await bench.removeRecoveryKey("") },
        ]
        for call in calls {
            #expect(await refusal { () throws(Refusal) in try await call(bench) } == .authFailed)
        }
        #expect(bench.pauses == [250_000, 500_000, 1_000_000])
        #expect(try bench.slots() == before)
        bench.restart()
        try await bench.recover(key)
    }

    @VaultActor @Test func theKeyOfBeforeOpensNothing() async throws {
        let first = try await bench.makeRecoverable()
        let second = try await bench.createRecoveryKey()
        bench.restart()
        #expect(await refusal { () throws(Refusal) in try await bench.recover(first) } == .authFailed)
        try await bench.recover(second)
        try await expectReadable(Self.migratable)
    }

    // MARK: A forgotten passcode, a lost device

    @VaultActor @Test(arguments: [UInt8(7), 8])
    func whatMayLeaveTheDeviceIsKeptAndTheRestIsGoneCleanly(key: UInt8) async throws {
        let recoveryKey = try await bench.makeRecoverable()
        bench.restart(key: key)
        let opened = await refusal { () throws(Refusal) in try bench.vault.open() }
        #expect(opened == (key == 7 ? nil : .notAvailable))
        #expect(bench.vault.isStranded == (key == 8))
        #expect(bench.vault.isRecoveryKeySet && bench.vault.isPasscodeSet)
        #expect(bench.vault.state == .beforeFirstUnlock)
        #expect(try bench.preview() == RecoveryCount(kept: 2, lost: 3))
        bench.forgetNotices()
        let count = try await bench.recover(recoveryKey, "new", accepting: 3)
        #expect(count == RecoveryCount(kept: 2, lost: 3))
        #expect(bench.vault.state == .unlocked && !bench.vault.isStranded)
        try await expectReadable(Self.migratable)
        #expect(bench.notices.count { if case .itemChanged = $0 { true } else { false } } == 3)
        #expect(bench.notices.count { $0 == .lockStateChanged(.unlocked) } == 1)
        // Everything can be stored again, and the new passcode alone opens it.
        for accessibility in Accessibility.allCases {
            try await bench.store(
                .item(accessibility.name, accessible: accessibility), "of " + accessibility.name)
        }
        bench.restart(key: key)
        #expect(await refusal { () throws(Refusal) in try await bench.unlock("1234") } == .authFailed)
        try await bench.unlock("new")
        try await expectReadable(Self.all)
        #expect(try bench.number("SELECT count(*) FROM class_pairs") == 5)
    }

    /// What is in memory still can be read, and so be kept.
    @VaultActor @Test(arguments: [DeviceState.unlocked, .locked])
    func whatIsInMemoryIsKept(state: DeviceState) async throws {
        let recoveryKey = try await bench.makeRecoverable()
        if state == .locked { try bench.lock() }
        let kept = state == .unlocked ? Self.all : Self.migratable.union(Self.background)
        let count = RecoveryCount(kept: UInt32(kept.count), lost: UInt32(5 - kept.count))
        #expect(try bench.preview() == count)
        #expect(try await bench.recover(recoveryKey, accepting: count.lost) == count)
        try await expectReadable(kept)
        bench.restart()
        try await bench.unlock("new")
        try await expectReadable(kept)
    }

    @VaultActor @Test func noMoreIsLostThanWasAgreedTo() async throws {
        let recoveryKey = try await bench.makeRecoverable()
        bench.restart()
        let refused = await refusal { () throws(Refusal) in
            try await bench.recover(recoveryKey, accepting: 2)
        }
        #expect(refused == .param)
        #expect(bench.vault.state == .beforeFirstUnlock)
        try await bench.unlock("1234")
        try await expectReadable(Self.all)
        // Agreed to while unlocked, and locked since.
        #expect(try bench.preview().lost == 0)
        try bench.lock()
        let late = await refusal { () throws(Refusal) in try await bench.recover(recoveryKey, accepting: 0) }
        #expect(late == .param && bench.vault.state == .locked)
        try await bench.unlock("1234")
        try await expectReadable(Self.all)
    }

    @VaultActor @Test func withoutAPasscodeThePasscodeSetItemsGoToo() async throws {
        let recoveryKey = try await bench.makeRecoverable()
        #expect(try bench.preview().lost == 0)
        let refused = await refusal { () throws(Refusal) in
            try await bench.recover(recoveryKey, "", accepting: 0)
        }
        #expect(refused == .param)
        #expect(try await bench.recover(recoveryKey, "", accepting: 1) == RecoveryCount(kept: 4, lost: 1))
        #expect(!bench.vault.isPasscodeSet)
        try await expectReadable(Self.all.subtracting(["when-passcode-set-this-device-only"]))
        bench.restart()
        try bench.vault.open()
        #expect(bench.vault.state == .unlocked && bench.vault.isRecoveryKeySet)
    }

    @VaultActor @Test func itIsMadeWithoutAPasscodeForALostDeviceKey() async throws {
        try await bench.add(.item("m", accessible: .whenUnlocked), "kept")
        try await bench.add(.item("d", accessible: .whenUnlockedThisDeviceOnly), "lost")
        let recoveryKey = try await bench.createRecoveryKey("")
        bench.restart(key: 9)
        #expect(await refusal { () throws(Refusal) in try bench.vault.open() } == .notAvailable)
        #expect(bench.vault.isRecoveryKeySet && !bench.vault.isPasscodeSet)
        #expect(try await bench.recover(recoveryKey, "") == RecoveryCount(kept: 1, lost: 1))
        #expect(try bench.secrets(.query(nil)) == ["kept"])
        bench.restart(key: 7)
        #expect(await refusal { () throws(Refusal) in try bench.vault.open() } == .notAvailable)
        bench.restart(key: 9)
        try bench.vault.open()
        #expect(try bench.secrets(.query(nil)) == ["kept"])
    }

    @VaultActor @Test func theKeyStaysGoodAfterItsUse() async throws {
        let recoveryKey = try await bench.makeRecoverable()
        for key: UInt8 in [8, 9, 8] {
            bench.restart(key: key)
            try await bench.recover(recoveryKey, "passcode \(key)")
            try await expectReadable(Self.migratable)
        }
    }

    @VaultActor @Test func anOlderBrokerRefusesAStoreWithARecoveryKey() async throws {
        try await bench.setPasscode("1234")
        #expect(try bench.number("PRAGMA user_version") == 1)
        _ = try await bench.createRecoveryKey()
        #expect(try bench.number("PRAGMA user_version") == 3)
        try await bench.keep("it")
        #expect(try bench.number("PRAGMA user_version") == 3)
    }

    // MARK: The passcode's own changes

    @VaultActor @Test func aPasscodeChangeLeavesTheSlotAsItIs() async throws {
        let recoveryKey = try await bench.makeRecoverable()
        let slot = "SELECT group_concat(hex(sealed)) FROM keybag_keys WHERE slot = 2"
        let before = try bench.text(slot)
        try await bench.setPasscode("5678", old: "1234")
        #expect(try bench.text(slot) == before)
        bench.restart(key: 8)
        try await bench.recover(recoveryKey)
        try await expectReadable(Self.migratable)
    }

    /// It rolls the class keys, and nobody has the recovery key at hand.
    @VaultActor @Test func aPasscodeRemovalWrapsTheNewClassKeysForTheSameRecoveryKey() async throws {
        let recoveryKey = try await bench.makeRecoverable()
        try await bench.removePasscode("1234")
        #expect(bench.vault.isRecoveryKeySet)
        try await bench.add(.item("later", accessible: .whenUnlocked), "later")
        try await bench.setPasscode("second")
        bench.restart(key: 8)
        #expect(try await bench.recover(recoveryKey) == RecoveryCount(kept: 3, lost: 2))
        try await expectReadable(Self.migratable)
        #expect(try bench.secret(.query("later")) == "later")
    }

    // MARK: What waited for the keys

    @VaultActor @Test func aLockThatComesMeanwhileWins() async throws {
        let recoveryKey = try await bench.makeRecoverable()
        let derivation = HeldWorker()
        let other = try Bench(InlineWorker(), derivation: derivation, in: bench.folder)
        try other.vault.open()
        await derivation.hold()
        let recovery = Task.immediate {
            await refusal { () throws(Refusal) in try await other.recover(recoveryKey) }
        }
        while await derivation.jobs == 0 { await Task.yield() }
        try other.lock()
        await derivation.release()
        #expect(await recovery.value == nil)
        #expect(other.vault.state == .locked)
        #expect(!other.notices.contains(.lockStateChanged(.unlocked)))
        try await other.unlock("new")
        #expect(try await other.readable().names == Self.migratable)
    }

    /// A logged-out item does not come back with the recovery key.
    @VaultActor @Test(arguments: [UInt8(7), 8])
    func aLogoutOfBeforeTheFirstUnlockIsCarriedOut(key: UInt8) async throws {
        let recoveryKey = try await bench.makeRecoverable()
        try await bench.add(.item("out", service: "out", accessible: .afterFirstUnlock), "out")
        try await bench.add(.item("elsewhere", accessible: .afterFirstUnlock), "elsewhere", as: .two)
        bench.restart()
        try await bench.logout("out")
        bench.restart(key: key)
        // Under another device key nobody can tell of which service it was.
        #expect(try bench.preview().lost == (key == 7 ? 3 : 6))
        try await bench.recover(recoveryKey)
        let out = await refusal { () throws(Refusal) in _ = try bench.secret(.query("out", service: "out")) }
        #expect(out == .itemNotFound)
        #expect(try bench.secret(.query("elsewhere"), as: .two) == "elsewhere")
        try await expectReadable(key == 7 ? Self.migratable : [])
    }

    @VaultActor @Test func aSecretServiceItemAndItsSecretGoTogether() async throws {
        try await bench.setPasscode("1234")
        try await bench.keep("device", ["kind": "device"], secret: "d")
        var who = Who.one
        who.rules["g1"] = GroupRules()
        who.rules["g1"]?.accessible = [.afterFirstUnlock]
        try await bench.keep("may leave", ["kind": "leave"], secret: "l", as: who)
        let recoveryKey = try await bench.createRecoveryKey()
        bench.restart()
        #expect(try bench.preview() == RecoveryCount(kept: 1, lost: 1))
        try await bench.recover(recoveryKey)
        #expect(try bench.found() == ["may leave"])
        #expect(try await bench.readable().damaged == 0)
        #expect(try bench.number("SELECT count(*) FROM foreground_items") == 0)
    }
}
