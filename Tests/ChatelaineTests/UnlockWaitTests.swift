import BrokerModel
import SDBus
import TestKit
import Testing

@testable import Chatelaine

/// Waiting for an unlock: on the broker's word, with none missed.
@Suite struct UnlockWaitTests {
    private func locked(
        _ way: BrokerStage.Way = .bus
    ) async throws -> (BrokerStage, CredentialVault) {
        let stage = try await BrokerStage()
        let vault = stage.vault(way: way)
        try await vault.store(Secret("one"), account: "alice")
        try await stage.setPasscode()
        try await stage.lock()
        return (stage, vault)
    }

    @Test func whatIsNotLockedIsReadAtOnce() async throws {
        let stage = try await BrokerStage()
        let vault = stage.vault()
        try await vault.store(Secret("one"), account: "alice")
        #expect(try await vault.read(account: "alice", waitingForUnlock: .zero).text() == "one")
        let error = await failure { try await vault.read(account: "bob", waitingForUnlock: .seconds(3600)) }
        #expect(error?.name == "notFound")
    }

    @Test(arguments: BrokerStage.Way.allCases)
    func theUnlockIsHeardOf(way: BrokerStage.Way) async throws {
        let (stage, vault) = try await locked(way)
        let reading = Task { try await vault.read(account: "alice", waitingForUnlock: .seconds(3600)).text() }
        // One subscriber more: it waits.
        try await waitUntil("the wait to begin") { try await stage.subscribers() == 1 }
        try await stage.unlock()
        #expect(try await within("the unlock") { try await reading.value } == "one")
    }

    /// The unlock comes in the moment that a wait most easily misses: after the refusal, before the subscription.
    @Test func anUnlockBetweenTheRefusalAndTheSubscriptionIsNotMissed() async throws {
        let (stage, vault) = try await locked()
        let text = try await within("the unlock") {
            try await UnlockWait(vault, .seconds(3600)).run { (vault) throws(VaultError) in
                do throws(VaultError) {
                    return try await vault.item("alice")
                } catch {
                    try? await stage.unlock()
                    throw error
                }
            }.secret.secret.text()
        }
        #expect(text == "one")
    }

    /// B054: before the first unlock it waits for that, over a crash of the broker too.
    @Test(arguments: BrokerStage.Way.allCases)
    func theWaitOutlivesTheBroker(way: BrokerStage.Way) async throws {
        let (stage, vault) = try await locked(way)
        let reading = Task { try await vault.read(account: "alice", waitingForUnlock: .seconds(3600)).text() }
        try await waitUntil("the wait to begin") { try await stage.subscribers() == 1 }
        try await stage.crash()
        try await waitUntil("the wait to go on") { try await stage.subscribers() == 1 }
        try await stage.unlock()
        #expect(try await within("the unlock") { try await reading.value } == "one")
    }

    @BrokerActor private final class Tries {
        var count = 0
    }

    /// The disk fails while an unlock is waited for. No event tells when that is over.
    @BrokerActor @Test func whatIsNoLockIsNotWaitedFor() async throws {
        let (stage, vault) = try await locked()
        let tries = Tries()
        let reading = Task {
            await failure {
                try await UnlockWait(vault, .seconds(3600)).run { (vault) throws(VaultError) in
                    tries.count += 1
                    guard tries.count > 1 else { return try await vault.item("alice") }
                    throw VaultError(ChatelaineError(Refusal(.notAvailable, "The disk failed.")))
                }
            }
        }
        #expect(try await within("the refusal") { await reading.value }?.name == "unavailable")
        withExtendedLifetime(stage) {}
    }

    @Test func whenTimeIsUpItIsStillLocked() async throws {
        let (stage, vault) = try await locked()
        let error = await failure {
            try await vault.read(account: "alice", waitingForUnlock: .milliseconds(20))
        }
        #expect(error?.name == "locked")
        try await stage.unlock()
        #expect(try await text(vault, "alice") == "one")
    }

    @Test func aCancelledWaitEnds() async throws {
        let (stage, vault) = try await locked()
        let reading = Task {
            await failure { try await vault.read(account: "alice", waitingForUnlock: .seconds(3600)) }
        }
        try await waitUntil("the wait to begin") { try await stage.subscribers() == 1 }
        reading.cancel()
        #expect(try await within("the end") { await reading.value }?.name == "cancelled")
        try await waitUntil("the subscription to end") { try await stage.subscribers() == 0 }
    }
}

extension BrokerStage {
    /// How many connections are subscribed.
    @BrokerActor func subscribers() async throws -> Int {
        try await user().clients().count { !$0.subscribed.isEmpty }
    }
}
