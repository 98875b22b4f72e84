import BrokerModel
import Sodium
import Testing

@testable import BrokerVault

/// Keys that an unlock of the session opens again: only where that is allowed, and never what `Lock` has closed.
@Suite struct SessionUnlockTests {
    private static let accessible = Accessibility.whenUnlocked

    /// A keychain that the passcode has unlocked since it was allowed, with an item of the foreground.
    @VaultActor private func bench(allowed: Bool = true) async throws -> Bench {
        let bench = try Bench()
        try await bench.setPasscode("1234")
        try await bench.add(.item(accessible: Self.accessible), "x")
        bench.restart()
        bench.vault.unlocksWithSession = allowed
        try await bench.unlock()
        bench.forgetNotices()
        return bench
    }

    @VaultActor private func expectLocked(_ bench: Bench) async throws {
        await bench.unlockWithSession()
        #expect(bench.vault.state == .locked)
        #expect(bench.vault.sessionSeal == nil)
        #expect(
            await refusal { () throws(Refusal) in _ = try bench.read(.query()) } == .interactionNotAllowed)
        try await bench.unlock()
        #expect(try bench.secrets(.query()) == ["x"])
    }

    @VaultActor @Test func itUndoesALockOfTheSession() async throws {
        let bench = try await bench()
        for _ in 0..<3 {
            #expect(bench.lockForNobody())
            #expect(bench.vault.state == .locked)
            await bench.unlockWithSession()
            #expect(try bench.secrets(.query()) == ["x"])
        }
        #expect(
            bench.notices
                == (0..<3).flatMap { _ in [.lockStateChanged(.locked), .lockStateChanged(.unlocked)] })
    }

    @VaultActor @Test func nothingIsSealedWhereItIsNotAllowed() async throws {
        let bench = try await bench(allowed: false)
        #expect(bench.vault.sessionSeal == nil)
        _ = bench.lockForNobody()
        try await expectLocked(bench)
    }

    @VaultActor @Test func aLockThatSomebodyCalledForIsNotUndone() async throws {
        let bench = try await bench()
        try bench.lock()
        try await expectLocked(bench)
        // Also where the session had locked it before.
        _ = bench.lockForNobody()
        try bench.lock()
        try await expectLocked(bench)
    }

    @VaultActor @Test func takingTheLeaveBackWipesWhatWasSealed() async throws {
        let bench = try await bench()
        _ = bench.lockForNobody()
        bench.vault.unlocksWithSession = false
        #expect(bench.vault.sessionSeal == nil)
        bench.vault.unlocksWithSession = true
        try await expectLocked(bench)
        #expect(bench.vault.sessionSeal != nil, "the passcode begins it anew")
    }

    @VaultActor @Test func theEndOfTheSessionWipesIt() async throws {
        let bench = try await bench()
        bench.vault.forgetSession()
        _ = bench.lockForNobody()
        try await expectLocked(bench)
        _ = bench.lockForNobody()
        bench.vault.forgetSession()
        try await expectLocked(bench)
        #expect(LockCause.allCases.filter(\.endsSession) == [.sleep, .sessionEnd])
    }

    @VaultActor @Test func itOpensNothingBeforeTheFirstUnlockAndNothingInAnotherProcess() async throws {
        let bench = try await bench()
        let seal = bench.vault.sessionSeal
        _ = bench.lockForNobody()
        bench.restart()
        bench.vault.unlocksWithSession = true
        try bench.vault.open()
        await bench.unlockWithSession()
        #expect(bench.vault.state == .beforeFirstUnlock)
        // Not even with what another process had sealed: that one's state is another.
        bench.vault.sessionSeal = seal
        await bench.unlockWithSession()
        #expect(bench.vault.state == .beforeFirstUnlock)
    }

    @VaultActor @Test func theSealIsBoundToTheDeviceKey() async throws {
        let bench = try await bench()
        let seal = try #require(bench.vault.sessionSeal)
        #expect(seal.open(try #require(bench.vault.deviceKey)) != nil)
        let other = DeviceKey(.init(count: 32) { $0[0] = 1 }, machineID: [])
        #expect(seal.open(try #require(other)) == nil)
    }

    @VaultActor @Test func aPasscodeChangeLeavesItAndARemovalWipesIt() async throws {
        let bench = try await bench()
        try await bench.setPasscode("5678", old: "1234")
        _ = bench.lockForNobody()
        await bench.unlockWithSession()
        #expect(try bench.secrets(.query()) == ["x"])
        try await bench.removePasscode("5678")
        #expect(bench.vault.sessionSeal == nil)
        // The class keys are others now.
        try await bench.setPasscode("9")
        _ = bench.lockForNobody()
        await bench.unlockWithSession()
        #expect(try bench.secrets(.query()) == ["x"])
    }

    @VaultActor @Test func aRecoveryWipesIt() async throws {
        let bench = try await bench()
        let key = try await bench.createRecoveryKey()
        _ = bench.lockForNobody()
        try await bench.recover(key)
        #expect(bench.vault.sessionSeal == nil && bench.vault.state == .unlocked)
    }

    @VaultActor @Test func aLockOvertakesTheUnlockOfTheSessionToo() async throws {
        let worker = HeldWorker()
        let bench = try Bench(InlineWorker(), derivation: worker)
        bench.vault.unlocksWithSession = true
        try await bench.setPasscode("1234")
        _ = bench.lockForNobody()
        // Another works on the keybag, so that the session's unlock has to wait for its turn.
        await worker.hold()
        let before = await worker.jobs
        let guess = Task.immediate { await refusal { () throws(Refusal) in try await bench.unlock("wrong") } }
        while await worker.jobs == before { await Task.yield() }
        let unlock = Task.immediate { await bench.unlockWithSession() }
        _ = bench.lockForNobody()
        await worker.release()
        await unlock.value
        #expect(await guess.value == .authFailed)
        #expect(bench.vault.state == .locked)
    }

    @VaultActor @Test func anUnlockThatLockOvertakesSealsNothing() async throws {
        let worker = HeldWorker()
        let bench = try Bench(InlineWorker(), derivation: worker)
        bench.vault.unlocksWithSession = true
        try await bench.setPasscode("1234")
        try bench.lock()
        await worker.hold()
        let before = await worker.jobs
        let unlock = Task.immediate { await refusal { () throws(Refusal) in try await bench.unlock() } }
        while await worker.jobs == before { await Task.yield() }
        try bench.lock()
        await worker.release()
        #expect(await unlock.value == .interactionNotAllowed)
        #expect(bench.vault.sessionSeal == nil)
        await bench.unlockWithSession()
        #expect(bench.vault.state == .locked)
    }
}
