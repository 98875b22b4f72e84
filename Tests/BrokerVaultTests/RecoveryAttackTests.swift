import BrokerModel
import SQLite
import Sodium
import Testing

@testable import BrokerVault

/// Somebody who has the file, and somebody who guesses.
@Suite struct RecoveryAttackTests {
    let bench: Bench

    init() async throws { bench = try await Bench() }

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8)
        return stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
    }

    /// Made by another program: a slot that this version wrote is opened by every later one.
    @Test func aSlotOfThisFormOpens() throws {
        let header = try #require(
            RecoverySlot.Header(Self.bytes("01030000000200010000000102030405060708090a0b0c0d0e0f")))
        let sealed: [(UInt32, KeyPurpose, String)] = [
            (
                9, .recovery,
                "111111111111111111111111111111111111111111111111dd82582c199065eff9428afca9765ee27b42143ed78694880d85a770f12816a08af54fce0bdb370734c0c4388e1e317f"
            ),
            (
                6, .classKey(.whenUnlocked),
                "01010101010101010101010101010101010101010101010102992472f5db4bc92e967d1656a77175873e1074f734807701131e3764c54dfbe6c497e8eb920bdc0d5bdf435c9259b2"
            ),
            (
                7, .classKey(.afterFirstUnlock),
                "040404040404040404040404040404040404040404040404b7ba8448c882fd08c3a330e5ba58b0180b019183b2ed41c3fcc7c9467d964a8b1f4e2267b1a6df9b7c35dd7f2c81c2bd"
            ),
            (
                8, .index,
                "101010101010101010101010101010101010101010101010aaabd6a3c90c1c6514d974e51adf777ebfaa0e9a5e745fbe5cdba2b83fefde9e2aa666aa8b53323bc6b4ed2b4a7a9c2b"
            ),
        ]
        let slot = RecoverySlot(
            header: header, wrapped: sealed.map { .init(id: $0.0, purpose: $0.1, sealed: Self.bytes($0.2)) })
        let typed = Secret(copying: Array("01233-4567v-89ab2-cdefe-ghjk1-mnpqs-rstv0".utf8).span)
        guard let key = try header.key(of: RecoveryKey(typed)) else {
            Issue.record("no memory")
            return
        }
        let opened = try slot.open(with: key)
        #expect(opened.classKeys.map(\.id) == [6, 7] && opened.indexKeyID == 8 && opened.recovery?.id == 9)
        let index = Secret(copying: [UInt8](repeating: 16, count: 32).span)
        let isRight = opened.indexKey.secret.isEqual(to: index)
        #expect(isRight)
    }

    @Test func headersOutOfBoundsAreRefusedUnread() {
        let good = RecoverySlot.Header.new().bytes
        #expect(RecoverySlot.Header(good) != nil)
        func with(_ place: Int, _ value: UInt8) -> [UInt8] {
            var bytes = good
            bytes[place] = value
            return bytes
        }
        // Version, kind, no pass, 16,777,219 of them, 0 KiB, 4 GiB.
        for bad in [with(0, 2), with(1, 2), with(5, 0), with(2, 1), with(7, 0), with(6, 64)] {
            #expect(RecoverySlot.Header(bad) == nil)
        }
        #expect(RecoverySlot.Header(Array(good.dropLast())) == nil)
        #expect(RecoverySlot.Header(good + [0]) == nil)
        #expect(KeybagSlot.Header(good) == nil)
        #expect(RecoverySlot.Header(KeybagSlot.Header.newPasscode().bytes) == nil)
    }

    @VaultActor @Test func wrongKeysAreHeldBackLongerEachTime() async throws {
        let key = try await bench.makeRecoverable()
        bench.restart()
        for _ in 0..<3 {
            #expect(await refusal { () throws(Refusal) in try await bench.recover(.random()) } == .authFailed)
        }
        #expect(await refusal { () throws(Refusal) in try await bench.unlock("wrong") } == .authFailed)
        #expect(bench.pauses == [250_000, 500_000, 1_000_000, 2_000_000])
        #expect(bench.vault.state == .beforeFirstUnlock)
        try await bench.recover(key)
        #expect(bench.pauses.count == 4)
    }

    @VaultActor @Test func aSlotOfAnotherStoreOpensNothingHere() async throws {
        let key = try await bench.makeRecoverable()
        let other = try Bench()
        let otherKey = try await other.makeRecoverable()
        bench.restart()
        try bench.tamper(
            """
            ATTACH '\(other.path)' AS other;
            DELETE FROM keybag_keys WHERE slot = 2; DELETE FROM keybag_slots WHERE id = 2;
            INSERT INTO keybag_slots SELECT * FROM other.keybag_slots WHERE id = 2;
            INSERT INTO keybag_keys SELECT * FROM other.keybag_keys WHERE slot = 2;
            """)
        bench.restart(key: 8)
        #expect(await refusal { () throws(Refusal) in try await bench.recover(key) } == .authFailed)
        // Its own key opens it, to keys that no row here was sealed under.
        let met = await refusal { () throws(Refusal) in try await bench.recover(otherKey) }
        let rows = try bench.number(
            "SELECT (SELECT count(*) FROM foreground_items) + (SELECT count(*) FROM background_items)")
        #expect(met == .notAvailable)
        #expect(rows == 5)
        bench.restart()
        try await bench.unlock()
        #expect(try await bench.readable().names.count == 5)
    }

    /// The numbers of its keys are those of the keybag then: a slot of before a passcode removal opens nothing of now.
    @VaultActor @Test func anOlderSlotOfTheSameStoreIsRefusedAndNothingIsLost() async throws {
        let key = try await bench.makeRecoverable()
        try bench.tamper(
            """
            CREATE TABLE old_slots AS SELECT * FROM keybag_slots WHERE id = 2;
            CREATE TABLE old_keys AS SELECT * FROM keybag_keys WHERE slot = 2;
            """)
        try await bench.removePasscode("1234")
        try bench.tamper(
            """
            DELETE FROM keybag_keys WHERE slot = 2; DELETE FROM keybag_slots WHERE id = 2;
            INSERT INTO keybag_slots SELECT * FROM old_slots; INSERT INTO keybag_keys SELECT * FROM old_keys;
            """)
        bench.restart(key: 8)
        #expect(await refusal { () throws(Refusal) in try await bench.recover(key) } == .notAvailable)
        bench.restart()
        try bench.vault.open()
        #expect(try await bench.readable().names.count == 4)
    }

    @VaultActor
    @Test(arguments: [
        // The salt, the costs within bounds, the kind of another slot.
        "UPDATE keybag_slots SET header = substr(header, 1, 10) || zeroblob(16) WHERE id = 2",
        "UPDATE keybag_slots SET header = X'010300000004' || substr(header, 7) WHERE id = 2",
        "UPDATE keybag_slots SET header = X'010300000011' || substr(header, 7) WHERE id = 2",
        "UPDATE keybag_slots SET header = X'0103000000030001' || X'0001' || substr(header, 11) WHERE id = 2",
        "UPDATE keybag_slots SET header = (SELECT header FROM keybag_slots WHERE id = 1) WHERE id = 2",
        "UPDATE keybag_keys SET sealed = zeroblob(length(sealed)) WHERE slot = 2",
        "UPDATE keybag_keys SET sealed = zeroblob(length(sealed)) WHERE slot = 2 AND purpose = 16",
        "UPDATE keybag_keys SET purpose = 33 - purpose WHERE slot = 2 AND purpose IN (16, 17)",
        "UPDATE keybag_keys SET purpose = 5 - purpose WHERE slot = 2 AND purpose < 16",
        "DELETE FROM keybag_keys WHERE slot = 2 AND purpose = 1",
        "DELETE FROM keybag_keys WHERE slot = 2 AND purpose = 16",
        "DELETE FROM keybag_keys WHERE slot = 2 AND purpose = 17",
        "UPDATE keybag_keys SET purpose = 99 WHERE slot = 2 AND purpose = 17",
        "DELETE FROM keybag_keys WHERE slot = 2",
        """
        UPDATE keybag_keys SET sealed = (SELECT sealed FROM keybag_keys WHERE slot = 1 AND purpose = 1)
            WHERE slot = 2 AND purpose = 1
        """,
    ])
    func anAlteredSlotOpensNothingAndThePasscodeStillDoes(change: String) async throws {
        let key = try await bench.makeRecoverable()
        #expect(try bench.rowsTampered(change) > 0, "the change changes something")
        bench.restart()
        let met = await refusal { () throws(Refusal) in try await bench.recover(key) }
        #expect(met == .authFailed || met == .notAvailable)
        try await bench.unlock()
        #expect(try await bench.readable().names.count == 5)
    }

    /// The first slot says what the recovery slot's own key is, so that whoever writes the file cannot have class keys
    /// sealed to a key of his own.
    @VaultActor @Test func aPasscodeRemovalSealsNothingToAForeignSlot() async throws {
        _ = try await bench.makeRecoverable()
        let other = try Bench()
        let otherKey = try await other.makeRecoverable()
        try bench.tamper(
            """
            ATTACH '\(other.path)' AS other;
            DELETE FROM keybag_keys WHERE slot = 2; DELETE FROM keybag_slots WHERE id = 2;
            INSERT INTO keybag_slots SELECT * FROM other.keybag_slots WHERE id = 2;
            INSERT INTO keybag_keys SELECT * FROM other.keybag_keys WHERE slot = 2;
            """)
        bench.restart()
        try await bench.removePasscode("1234")
        bench.restart(key: 8)
        #expect(await refusal { () throws(Refusal) in try await bench.recover(otherKey) } == .notAvailable)
        bench.restart()
        try bench.vault.open()
        #expect(try await bench.readable().names.count == 4)
    }

    /// A file without its device key, and the passcode: as little as before there were recovery keys.
    @VaultActor @Test func thePasscodeOpensNothingUnderAnotherDeviceKey() async throws {
        _ = try await bench.makeRecoverable()
        bench.restart(key: 8)
        for passcode in ["1234", ""] {
            #expect(await refusal { () throws(Refusal) in try await bench.unlock(passcode) } == .notAvailable)
        }
        #expect(
            await refusal { () throws(Refusal) in _ = try await bench.createRecoveryKey() } == .notAvailable)
        #expect(bench.faults.count == 1, "said once, however often it is tried")
    }

    @VaultActor @Test func aReadUnderAnotherDeviceKeyWritesNothing() async throws {
        _ = try await bench.makeRecoverable()
        bench.restart(key: 8)
        let before = try Bench.contents(of: bench.path)
        _ = await refusal { () throws(Refusal) in _ = try bench.read(.query(nil)) }
        _ = await refusal { () throws(Refusal) in try await bench.add(.item("x")) }
        #expect(try bench.preview().lost == 3)
        #expect(try Bench.contents(of: bench.path) == before)
    }
}
