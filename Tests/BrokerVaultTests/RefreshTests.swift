@_spi(Testing) import BrokerGate
import BrokerModel
import SQLite
import Sodium
import TestKit
import Testing

@testable import BrokerVault

/// Grants and completions on the disk (INTERFACE, Refresh); who waits for whom is the desk's.
@Suite struct RefreshTests {
    private static let boot: [UInt8] = [1]

    @VaultActor private func bench(_ worker: any BlockingWorker = InlineWorker()) async throws -> Bench {
        let bench = try Bench(worker)
        try await bench.setPasscode("1234")
        try await bench.add(.item("a", accessible: .whenUnlocked), "old")
        try await bench.add(.item("b", accessible: .whenUnlocked), "old")
        return bench
    }

    @VaultActor private func grant(
        _ bench: Bench, _ account: String = "a", boot: [UInt8] = boot, now: UInt64 = 0,
        application: String = "app"
    ) async throws -> RefreshGrant {
        let item = try bench.read(.query(account)).attributes
        let terms = RefreshTerms(application: application, boot: boot, now: now, deadline: now + 60)
        return try await bench.vault.grantRefresh(
            { () throws(Refusal) in Who.one.grant() }, of: item.reference, at: item.revision, terms)
    }

    @VaultActor private func fence(_ bench: Bench, _ account: String = "a") async throws -> UInt64 {
        guard case .granted(let fence) = try await grant(bench, account) else {
            throw TestFailure("no grant")
        }
        return fence
    }

    @VaultActor @discardableResult private func complete(
        _ bench: Bench, _ fence: UInt64, _ secret: String = "new", application: String = "app",
        changes: KeyValuePairs<String, WireDictionary.Value> = [:]
    ) async throws(Refusal) -> UInt64 {
        try await bench.vault.completeRefresh(
            { () throws(Refusal) in Who.one.grant() }, fence: fence, by: application,
            Changes(WireDictionary(changes), now: bench.clock), SharedSecret(secret)
        ).revision
    }

    @VaultActor @Test func anEarlierBrokersGrantBlocksInItsBootAndTime() async throws {
        let bench = try await bench()
        let first = try await fence(bench)
        bench.restart()
        try await bench.unlock()
        #expect(try await grant(bench, now: 59) == .blocked(until: 60))
        #expect(bench.vault.isInherited(fence: first))
        #expect(try await grant(bench, "b", now: 59) == .granted(fence: first + 1))
        #expect(!bench.vault.isInherited(fence: first + 1))
        #expect(try await grant(bench, now: 60) == .granted(fence: first + 2))
        #expect(await refusal { () throws(Refusal) in try await complete(bench, first) } == .leaseLost)
    }

    @VaultActor @Test func anotherBootsGrantBlocksNobody() async throws {
        let bench = try await bench()
        let first = try await fence(bench)
        bench.restart()
        try await bench.unlock()
        #expect(try await grant(bench, boot: [2]) == .granted(fence: first + 1))
    }

    @VaultActor @Test func whatNobodyCanUseAnyMoreIsForgotten() async throws {
        let bench = try await bench()
        let first = try await fence(bench)
        try await complete(bench, first)
        let lost = try await fence(bench, "b")
        try bench.tamper("UPDATE numbers SET value = value + 5000 WHERE name = 'next-fence'")
        #expect(try await grant(bench, now: 1000) == .granted(fence: lost + 5001))
        #expect(try bench.number("SELECT count(*) FROM refresh_grants") == 1)
    }

    @VaultActor @Test func aChangeFreesAnEarlierBrokersGrant() async throws {
        let bench = try await bench()
        let first = try await fence(bench)
        bench.restart()
        try await bench.unlock()
        try await bench.store(.item("a", accessible: .whenUnlocked), "sign-in")
        #expect(try await grant(bench) == .granted(fence: first + 1))
        #expect(await refusal { () throws(Refusal) in try await complete(bench, first) } == .leaseLost)
        #expect(try bench.secret(.query("a")) == "sign-in")
    }

    @VaultActor @Test func aGrantIsTheApplicationsThatGotIt() async throws {
        let bench = try await bench()
        let fence = try await fence(bench)
        let met = await refusal { () throws(Refusal) in
            try await complete(bench, fence, application: "other")
        }
        #expect(met == .leaseLost)
        let ended = await refusal { () throws(Refusal) in
            try await bench.vault.endRefresh(fence: fence, by: "other")
        }
        #expect(ended == .leaseLost)
        try await complete(bench, fence)
        #expect(try bench.secret(.query("a")) == "new")
    }

    /// The unlock comes while the completion is on its way to the disk: it must not open the old item.
    @VaultActor @Test func anUnlockWaitsForACompletionThatIsBeingWritten() async throws {
        let worker = HeldWorker()
        let bench = try await bench(worker)
        let fence = try await fence(bench)
        try bench.lock()
        await worker.hold()
        let completion = Task.immediate { try await complete(bench, fence) }
        let unlock = Task.immediate { try await bench.unlock() }
        await worker.release()
        let revision = try await completion.value
        try await unlock.value
        let found = try bench.read(.query("a"))
        #expect(found.secret.text == "new" && found.attributes.revision == revision)
    }

    @VaultActor @Test func aKeptCompletionHasItsAttributesAndTimes() async throws {
        let bench = try await bench()
        let fence = try await fence(bench)
        try bench.lock()
        let (expires, fresh) = (bench.clock + 7_000_000, bench.clock + 3_000_000)
        let revision = try await complete(
            bench, fence,
            changes: ["Label": "l", "Expires": .time(expires), "FreshUntil": .time(fresh)])
        bench.forgetNotices()
        try await bench.unlock()
        let found = try bench.read(.query("a")).attributes
        #expect(found.expires == expires && found.freshUntil == fresh && found.revision == revision)
        #expect(found.attributes[.label] == .text(Array("l".utf8)))
        #expect(bench.notices.count == 2 && bench.notices.first == .lockStateChanged(.unlocked))
        #expect(try bench.number("SELECT count(*) FROM refresh_completions") == 0)
        #expect(try bench.secret(.query("b")) == "old")
    }

    /// Whoever can write the file can take a completion away, and cannot make another one of it.
    @VaultActor
    @Test(arguments: [
        """
        CREATE TABLE saved AS SELECT * FROM refresh_completions;
        UPDATE refresh_completions SET sealed =
            (SELECT s.sealed FROM saved s WHERE s.reference != refresh_completions.reference);
        """,
        "UPDATE refresh_completions SET base = base - 1",
        "UPDATE refresh_completions SET revision = revision + 5", "UPDATE refresh_completions SET base = -1",
        "UPDATE refresh_completions SET class_key = class_key + 1",
        "UPDATE refresh_completions SET class_key = -1", "UPDATE refresh_completions SET sealed = x''",
        "UPDATE refresh_completions SET sealed = zeroblob(200)",
        "UPDATE refresh_completions SET sealed = substr(sealed, 1, length(sealed) - 1)",
        "UPDATE refresh_completions SET reference = randomblob(16)",
        "UPDATE refresh_completions SET reference = substr(reference, 2)", "DELETE FROM class_pairs",
        "UPDATE class_pairs SET private_key = zeroblob(72)",
    ])
    func aChangedCompletionIsDropped(_ damage: String) async throws {
        let bench = try await bench()
        let fences = (try await fence(bench, "a"), try await fence(bench, "b"))
        try bench.lock()
        try await complete(bench, fences.0, "new a")
        try await complete(bench, fences.1, "new b")
        try bench.tamper(damage)
        try await bench.unlock()
        #expect(try bench.secret(.query("a")) == "old")
        #expect(try bench.secret(.query("b")) == "old")
        #expect(try bench.number("SELECT count(*) FROM refresh_completions") == 0)
    }

    @VaultActor @Test func aRejectedItemThatIsLockedNeedsItsService() async throws {
        let bench = try await bench()
        let fence = try await fence(bench)
        try bench.lock()
        let reject = { (service: String?) async throws(Refusal) in
            try await bench.vault.rejectRefresh(
                { () throws(Refusal) in Who.one.grant() }, fence: fence, by: "app", service: service)
        }
        #expect(await refusal { () throws(Refusal) in try await reject(nil) } == .interactionNotAllowed)
        bench.forgetNotices()
        try await reject("s")
        #expect(
            bench.notices.last
                == .loggedOut(group: "g1", service: "s", epoch: 1, reason: "rejected"))
        #expect(await refusal { () throws(Refusal) in try await reject("s") } == .leaseLost)
    }
}
