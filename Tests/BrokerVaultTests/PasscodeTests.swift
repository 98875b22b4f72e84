import BrokerModel
import SQLite
import Sodium
import Testing

@testable import BrokerVault

/// The keybag: setting, changing and removing the passcode (ARCHITECTURE, the vault).
@Suite struct PasscodeTests {
    let bench: Bench

    init() async throws { bench = try await Bench() }

    @VaultActor private func keybag() throws -> [String] {
        let database = try Database(path: bench.path, mode: .readOnly)
        var rows: [String] = []
        let tables = ["keybag_slots": "header", "keybag_keys": "sealed", "class_pairs": "private_key"]
        for (table, column) in tables.sorted(by: { $0.key < $1.key }) {
            let query = try database.statement("SELECT id, hex(\(column)) FROM \(table) ORDER BY id")
            while try query.step() { rows.append("\(table) \(query.number(0)) \(query.text(1))") }
        }
        return rows
    }

    @VaultActor @Test func aNewStoreHasNoPasscodeAndIsUnlocked() async throws {
        try bench.vault.open()
        #expect(bench.vault.state == .unlocked && !bench.vault.isPasscodeSet)
        #expect(await refusal { () throws(Refusal) in try bench.lock() } == .notAvailable)
        #expect(await refusal { () throws(Refusal) in try await bench.unlock() } == .notAvailable)
        #expect(await refusal { () throws(Refusal) in try await bench.removePasscode("") } == .notAvailable)
    }

    @VaultActor @Test func settingAPasscodeChangesNoStateAndNoItem() async throws {
        try await bench.add(.item("1", accessible: .whenUnlocked), "1")
        try await bench.add(.item("2"), "2")
        try await bench.setPasscode("1234")
        #expect(bench.vault.state == .unlocked && bench.vault.isPasscodeSet)
        #expect(try bench.secrets(.query(nil)) == ["1", "2"])
        bench.restart()
        try bench.vault.open()
        #expect(bench.vault.state == .beforeFirstUnlock)
        try await bench.unlock("1234")
        #expect(try bench.secrets(.query(nil)) == ["1", "2"])
    }

    @VaultActor @Test func anEmptyPasscodeIsNone() async throws {
        #expect(await refusal { () throws(Refusal) in try await bench.setPasscode("") } == .param)
        #expect(!bench.vault.isPasscodeSet)
    }

    @VaultActor @Test func anOldPasscodeMustBeGivenAndNoneWhereNoneIsSet() async throws {
        #expect(
            await refusal { () throws(Refusal) in try await bench.setPasscode("new", old: "x") }
                == .authFailed)
        try await bench.setPasscode("1234")
        #expect(await refusal { () throws(Refusal) in try await bench.setPasscode("new") } == .authFailed)
    }

    @VaultActor @Test func aWrongPasscodeChangesNothingInTheFileAndIsHeldBackLongerEachTime() async throws {
        try await bench.setPasscode("1234")
        let before = try keybag()
        #expect(await refusal { () throws(Refusal) in try await bench.unlock("wrong") } == .authFailed)
        #expect(
            await refusal { () throws(Refusal) in try await bench.removePasscode("wrong") } == .authFailed)
        #expect(
            await refusal { () throws(Refusal) in try await bench.setPasscode("n", old: "w") } == .authFailed)
        #expect(try keybag() == before)
        #expect(bench.pauses == [250_000, 500_000, 1_000_000])
        try await bench.unlock("1234")
        #expect(await refusal { () throws(Refusal) in try await bench.unlock("wrong") } == .authFailed)
        #expect(bench.pauses.last == 250_000)
    }

    @Test func thePauseGrowsToHalfAMinuteAndNoFurther() {
        let attempts = UnlockAttempts()
        let pauses = (0..<20).compactMap { _ in
            attempts.failed()
            return attempts.takePause()
        }
        #expect(pauses.count == 20 && pauses.max() == 30_000_000 && pauses == pauses.sorted())
        #expect(attempts.takePause() == nil)
    }

    /// A program of the user that guesses holds up the user's other programs, and never the login.
    @VaultActor @Test func anAdministratorsAttemptWaitsForNoPauseOfTheUsers() async throws {
        try await bench.setPasscode("1234")
        bench.restart()
        try bench.vault.open()
        let pauses = Pauses()
        bench.onPause = { await pauses.take() }
        let guess = Task {
            await refusal { () throws(Refusal) in try await bench.unlock("wrong") }
        }
        await pauses.begun()
        let behind = Task { () -> Refusal.Kind? in
            pauses.steps.append("behind")
            return await refusal { () throws(Refusal) in try await bench.unlock("wrong too") }
        }
        while pauses.steps.isEmpty { await Task.yield() }
        #expect(bench.vault.state == .beforeFirstUnlock && bench.pauses.count == 1)
        try await bench.unlockAsAdministrator("1234")
        #expect(bench.vault.state == .unlocked && bench.pauses.count == 1)
        pauses.end()
        #expect(await guess.value == .authFailed)
        await pauses.begun()
        pauses.end()
        #expect(await behind.value == .authFailed)
    }

    /// Its own wrong ones are answered late too, and hold up nobody.
    @VaultActor @Test func anAdministratorsWrongPasscodeIsAnsweredLateAndHoldsUpNobody() async throws {
        try await bench.setPasscode("1234")
        bench.restart()
        try bench.vault.open()
        let pauses = Pauses()
        bench.onPause = { await pauses.take() }
        let wrong = Task {
            await refusal { () throws(Refusal) in
                try await bench.unlockAsAdministrator("wrong")
            }
        }
        await pauses.begun()
        #expect(bench.pauses == [250_000])
        try await bench.unlock("1234")
        #expect(bench.vault.state == .unlocked)
        pauses.end()
        #expect(await wrong.value == .authFailed)
    }

    @VaultActor @Test func changingThePasscodeWrapsTheSameKeysAnew() async throws {
        try await bench.setPasscode("1234")
        try await bench.add(.item("p", accessible: .whenPasscodeSetThisDeviceOnly), "p")
        let before = try keybag()
        try await bench.setPasscode("5678", old: "1234")
        let after = try keybag()
        #expect(Set(before).intersection(after).allSatisfy { $0.hasPrefix("class_pairs") })
        #expect(before.filter { $0.hasPrefix("class_pairs") } == after.filter { $0.hasPrefix("class_pairs") })
        bench.restart()
        #expect(await refusal { () throws(Refusal) in try await bench.unlock("1234") } == .authFailed)
        try await bench.unlock("5678")
        #expect(try bench.secret(.query("p")) == "p")
    }

    @VaultActor @Test(arguments: [DeviceState.beforeFirstUnlock, .locked, .unlocked])
    func aPasscodeIsChangedInEveryStateAndTheStateStays(state: DeviceState) async throws {
        try await bench.add(.item(accessible: .whenUnlocked), "x")
        try await bench.setPasscode("1234")
        if state == .beforeFirstUnlock { bench.restart() }
        if state == .locked { try bench.lock() }
        try await bench.setPasscode("5678", old: "1234")
        #expect(bench.vault.state == state)
        try await bench.unlock("5678")
        #expect(try bench.secret(.query()) == "x")
    }

    @VaultActor @Test(arguments: [DeviceState.beforeFirstUnlock, .locked, .unlocked])
    func removingThePasscodeDestroysItsClassAndEndsUnlocked(state: DeviceState) async throws {
        try await bench.setPasscode("1234")
        let lost = try await bench.add(.item("p", accessible: .whenPasscodeSetThisDeviceOnly), "p")
        for (account, accessible) in [
            ("1", Accessibility.whenUnlocked), ("2", .whenUnlockedThisDeviceOnly), ("3", .afterFirstUnlock),
            ("4", .afterFirstUnlockThisDeviceOnly),
        ] { try await bench.add(.item(account, accessible: accessible), account) }
        if state == .beforeFirstUnlock { bench.restart() }
        if state == .locked { try bench.lock() }
        bench.forgetNotices()
        let before = try keybag()
        try await bench.removePasscode("1234")
        #expect(bench.vault.state == .unlocked && !bench.vault.isPasscodeSet)
        #expect(Set(before).isDisjoint(with: try keybag()))
        #expect(try bench.secrets(.query(nil)) == ["1", "2", "3", "4"])
        #expect(await refusal { () throws(Refusal) in _ = try bench.read(.query("p")) } == .itemNotFound)
        var expected: [Notice] = [
            .itemChanged(
                group: "g1", reference: lost.reference, change: .removed, revision: lost.revision,
                side: .foreground, previousSide: .foreground)
        ]
        if state != .unlocked { expected.insert(.lockStateChanged(.unlocked), at: 0) }
        #expect(bench.notices == expected)
        #expect(try bench.number("SELECT count(*) FROM foreground_items") == 2)
        #expect(try await bench.check().damaged.isEmpty)
        bench.restart()
        #expect(try bench.secrets(.query(nil)) == ["1", "2", "3", "4"])
        try await bench.setPasscode("5678")
        #expect(await refusal { () throws(Refusal) in _ = try bench.read(.query("p")) } == .itemNotFound)
        try await bench.add(.item("p", accessible: .whenPasscodeSetThisDeviceOnly), "new")
        #expect(try bench.secret(.query("p")) == "new")
    }

    /// What comes while the keys change is sealed under the new ones, and nothing seems damaged meanwhile.
    @VaultActor @Test func itemsWrittenAndReadWhileThePasscodeGoesAreWhole() async throws {
        let bench = try Bench(ThreadWorker())
        try await bench.setPasscode("1234")
        try await bench.add(.item("old"), "old")
        try await bench.add(.item("kept", accessible: .whenUnlocked), "kept")
        let isRunning = Shared(true)
        let writers = (0..<4).map { writer in
            Task { @VaultActor in
                var written: [String] = []
                while isRunning.value {
                    let account = "\(writer)-\(written.count)"
                    let met = await refusal { () throws(Refusal) in
                        try await bench.add(.item(account, accessible: .whenUnlocked), account)
                    }
                    #expect(met == nil)
                    written.append(account)
                    let again = await refusal { () throws(Refusal) in
                        try await bench.add(.item("old"), "replaced")
                    }
                    #expect(again == .duplicateItem)
                }
                return written
            }
        }
        let reader = Task { @VaultActor in
            while isRunning.value {
                let met = await refusal { () throws(Refusal) in
                    _ = try bench.secret(.query("old"))
                    _ = try bench.secret(.query("kept").adding("Accessible", "when-unlocked"))
                }
                #expect(met == nil)
                await Task.yield()
            }
        }
        let removal = await refusal { () throws(Refusal) in try await bench.removePasscode("1234") }
        isRunning.value = false
        #expect(removal == nil)
        await reader.value
        var expected: Set<String> = ["old", "kept"]
        for writer in writers { expected.formUnion(await writer.value) }
        #expect(try Set(bench.secrets(.query(nil))) == expected)
        bench.restart()
        #expect(try Set(bench.secrets(.query(nil))) == expected)
        #expect(try await bench.check().damaged.isEmpty)
    }

    @VaultActor @Test func classKeysDifferForEveryClass() async throws {
        try await bench.setPasscode("1234")
        let keyring = bench.vault.keyring
        var keys: Set<[UInt8]> = []
        for key in keyring.background?.keys ?? [] {
            keys.formUnion([copy(key.metadata.bytes), copy(key.secrets.bytes)])
        }
        for key in keyring.foreground?.keys ?? [] {
            keys.formUnion([copy(key.metadata.bytes), copy(key.secrets.bytes)])
        }
        #expect(keys.count == 10)
    }

    @VaultActor @Test func eachClassKeyHasAPairAndNoMore() async throws {
        try bench.vault.open()
        let sql =
            "SELECT count(*) FROM class_pairs WHERE id IN (SELECT id FROM keybag_keys WHERE purpose < 16)"
        #expect(try bench.number(sql) == 4 && bench.number("SELECT count(*) FROM class_pairs") == 4)
        try await bench.setPasscode("1234")
        #expect(try bench.number(sql) == 5 && bench.number("SELECT count(*) FROM class_pairs") == 5)
        try await bench.removePasscode("1234")
        #expect(try bench.number(sql) == 4 && bench.number("SELECT count(*) FROM class_pairs") == 4)
    }

    @VaultActor @Test func keyNumbersAreNotUsedTwice() async throws {
        try bench.vault.open()
        var seen: Set<Int64> = []
        let database = try Database(path: bench.path, mode: .readOnly)
        for round in 0..<3 {
            let query = try database.statement("SELECT id FROM keybag_keys WHERE purpose < 16")
            while try query.step() { #expect(seen.insert(query.number(0)).inserted, "round \(round)") }
            try await bench.setPasscode("1234")
            try await bench.removePasscode("1234")
        }
    }

    /// Old wrappings must not outlive what they wrapped.
    @VaultActor @Test func theLogIsEmptyAfterAChangeAndARemoval() async throws {
        try await bench.setPasscode("1234")
        #expect(try Bench.size(of: bench.path + "-wal") == 0)
        try await bench.add(.item("p", accessible: .whenPasscodeSetThisDeviceOnly))
        #expect(try Bench.size(of: bench.path + "-wal") > 0)
        try await bench.removePasscode("1234")
        #expect(try Bench.size(of: bench.path + "-wal") == 0)
    }

    @VaultActor @Test func aKeybagThatIsDamagedInPartIsNotTakenForAWrongPasscode() async throws {
        try await bench.setPasscode("1234")
        bench.restart()
        try bench.tamper("UPDATE keybag_keys SET sealed = zeroblob(72) WHERE purpose = 1")
        let before = try keybag()
        #expect(await refusal { () throws(Refusal) in try await bench.unlock("1234") } == .notAvailable)
        #expect(try keybag() == before)
        #expect(bench.vault.state == .beforeFirstUnlock && bench.pauses.isEmpty)
    }

    /// A class without its key would make its items seem damaged, and an addition would replace them.
    @VaultActor @Test(arguments: [true, false])
    func aKeybagThatLacksAKeyIsDamaged(hasPasscode: Bool) async throws {
        if hasPasscode { try await bench.setPasscode("1234") } else { try bench.vault.open() }
        bench.restart()
        try bench.tamper("DELETE FROM keybag_keys WHERE purpose = 4")
        #expect(
            await refusal { () throws(Refusal) in
                if hasPasscode { try await bench.unlock("1234") } else { try bench.vault.open() }
            } == .notAvailable)
    }

    @VaultActor @Test(arguments: ["passes", "memory", "version", "kind", "length"])
    func aSlotWhoseHeaderIsOutOfBoundsIsRefused(part: String) async throws {
        try await bench.setPasscode("1234")
        guard case .passcode(_, let salt) = try bench.vault.openStore().slot.header else {
            Issue.record("no passcode slot")
            return
        }
        var writer = ByteWriter()
        writer.raw([part == "version" ? 2 : 1, part == "kind" ? 9 : 2])
        writer.number(UInt32(part == "passes" ? 1 : 3))
        writer.number(UInt32(part == "memory" ? 4 << 20 : 64 << 10))
        writer.raw(part == "length" ? salt + [0] : salt)
        bench.restart()
        let hex = writer.bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
        try bench.tamper("UPDATE keybag_slots SET header = x'\(hex)'")
        #expect(await refusal { () throws(Refusal) in try await bench.unlock("1234") } == .notAvailable)
    }
}

extension Bench {
    static func size(of path: String) throws -> Int { try contents(of: path).count }
}
