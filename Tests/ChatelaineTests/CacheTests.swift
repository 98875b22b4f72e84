import Glibc
import SDBus
import Synchronization
import TestKit
import Testing

@testable import Chatelaine

/// ``RuntimeSecretCache``: memory, then the broker, then a fetch.
@Suite struct CacheTests {
    /// Counts its calls and gives numbered secrets.
    private final class Source: Sendable {
        private let count = Atomic<Int>(0)
        var calls: Int { count.load(ordering: .relaxed) }

        func fetch() -> FetchedSecret {
            FetchedSecret(Secret("fetched \(count.add(1, ordering: .relaxed).newValue)"))
        }
    }

    private func ask(_ cache: RuntimeSecretCache, _ source: Source) async throws -> String? {
        try await within("the secret") {
            try await cache.secret(account: "alice") { source.fetch() }.secret.text()
        }
    }

    @Test func aFetchIsStoredAndOneForAll() async throws {
        let stage = try await BrokerStage()
        let (cache, source) = (RuntimeSecretCache(stage.vault()), Source())
        let texts = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 1...20 { group.addTask { try await ask(cache, source) } }
            return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        #expect(texts == ["fetched 1"] && source.calls == 1)
        #expect(try await text(stage.vault(), "alice") == "fetched 1")
        #expect(try await ask(RuntimeSecretCache(stage.vault()), source) == "fetched 1")
        #expect(source.calls == 1)
    }

    @Test func memoryNeedsNoBroker() async throws {
        let stage = try await BrokerStage()
        let (cache, source) = (RuntimeSecretCache(stage.vault()), Source())
        _ = try await ask(cache, source)
        await stage.signalBroker(SIGSTOP)
        #expect(try await ask(cache, source) == "fetched 1")
        await stage.signalBroker(SIGCONT)
    }

    @Test func aLockEmptiesIt() async throws {
        let stage = try await BrokerStage()
        let (cache, source) = (RuntimeSecretCache(stage.vault()), Source())
        _ = try await ask(cache, source)
        try await stage.setPasscode()
        try await stage.lock()
        try await waitUntil("the lock to reach it") {
            await failure { try await cache.secret(account: "alice") { source.fetch() } }?.name == "locked"
        }
        #expect(source.calls == 1)
        try await stage.unlock()
        #expect(try await ask(cache, source) == "fetched 1")
    }

    @Test func aLogoutEmptiesIt() async throws {
        let stage = try await BrokerStage()
        let (cache, source) = (RuntimeSecretCache(stage.vault()), Source())
        _ = try await ask(cache, source)
        try await stage.vault().logOut()
        try await waitUntil("the logout to reach it") { try await ask(cache, source) != "fetched 1" }
        #expect(source.calls == 2)
    }

    /// B140: what another process has changed is not handed out again.
    @Test func aChangeElsewhereIsReadAgain() async throws {
        let stage = try await BrokerStage()
        let (cache, source) = (RuntimeSecretCache(stage.vault()), Source())
        _ = try await ask(cache, source)
        try await stage.vault().store(Secret("rotated"), account: "alice")
        try await waitUntil("the change to reach it") { try await ask(cache, source) == "rotated" }
        #expect(source.calls == 1)
    }

    @Test func withoutTheBrokerNothingIsKept() async throws {
        let stage = try await BrokerStage()
        let (cache, source) = (RuntimeSecretCache(stage.vault()), Source())
        _ = try await ask(cache, source)
        await stage.killBroker()
        try await waitUntil("the end to reach it") {
            await failure { try await cache.secret(account: "alice") { source.fetch() } }?.name
                == "brokerMissing"
        }
        try await stage.startBroker()
        #expect(try await ask(cache, source) == "fetched 1")
        #expect(source.calls == 1)
    }

    /// B128: the answer of a server comes after the logout, and is not stored.
    @Test func aLogoutWinsOverALateFetch() async throws {
        let stage = try await BrokerStage()
        let cache = RuntimeSecretCache(stage.vault())
        let error = await failure {
            try await cache.secret(account: "alice") {
                _ = try await stage.user().forceLogout(
                    group: "org.example.client", service: "https://mail.example", reason: "")
                return FetchedSecret(Secret("late"))
            }
        }
        #expect(error?.name == "changed")
        #expect(try await stage.vault().accounts() == [])
    }

    /// B128, B123: who asks after the logout is not given what was asked for before it, and the late one takes nothing
    /// from the winner.
    @Test func aLateFetchIsNotJoined() async throws {
        let stage = try await BrokerStage()
        let cache = RuntimeSecretCache(stage.vault())
        let (begun, goOn) = (Mailbox<Void>(), Mailbox<Void>())
        let early = Task {
            try await cache.secret(account: "alice") {
                begun.post(())
                try await goOn.next("the end of the fetch")
                return FetchedSecret(Secret("early"))
            }
        }
        try await begun.next("the fetch")
        _ = try await stage.user().forceLogout(
            group: "org.example.client", service: "https://mail.example", reason: "")
        try await waitUntil("the logout to reach it") { await cache.flights.isEmpty }
        #expect(try await ask(cache, Source()) == "fetched 1")
        goOn.post(())
        #expect(try await within("the end") { try await early.value }.secret.text() == "fetched 1")
        #expect(try await text(stage.vault(), "alice") == "fetched 1")
    }

    @Test func whatAFetchThrowsEveryoneGets() async throws {
        let stage = try await BrokerStage()
        let cache = RuntimeSecretCache(stage.vault())
        await #expect(throws: TestFailure.self) {
            _ = try await cache.secret(account: "alice") { throw TestFailure("no network") }
        }
        #expect(try await ask(cache, Source()) == "fetched 1")
    }

    @Test func whatIsForgottenIsAskedForAgain() async throws {
        let stage = try await BrokerStage()
        let (cache, source) = (RuntimeSecretCache(stage.vault()), Source())
        _ = try await ask(cache, source)
        await stage.signalBroker(SIGSTOP)
        #expect(try await ask(cache, source) == "fetched 1")
        await cache.forget(account: "alice")
        let asking = Task { try await ask(cache, source) }
        // Not from memory: the broker, which does not answer just now.
        try await waitUntil("the question") { await !cache.flights.isEmpty }
        await stage.signalBroker(SIGCONT)
        #expect(try await asking.value == "fetched 1")
        #expect(source.calls == 1)
    }

    /// What is on its way when memory is emptied is given to who asked, and not kept.
    @Test func whatIsForgottenMeanwhileIsNotKept() async throws {
        let stage = try await BrokerStage()
        let cache = RuntimeSecretCache(stage.vault())
        let fetched = try await cache.secret(account: "alice") {
            await cache.forget(account: "alice")
            return FetchedSecret(Secret("fetched"))
        }
        #expect(fetched.secret.text() == "fetched")
        #expect(await cache.kept.isEmpty)
        _ = try await ask(cache, Source())
        #expect(await !cache.kept.isEmpty)
    }

    /// A fetch may block its thread, and outlives who asked first.
    @Test func aFetchHoldsUpNobody() async throws {
        let stage = try await BrokerStage()
        let cache = RuntimeSecretCache(stage.vault())
        let (begun, goOn) = (Mailbox<Bool>(), Mailbox<Void>())
        let first = Task {
            try await cache.secret(account: "alice") {
                begun.post(BrokerActor.shared.loop.isCurrent)
                try await goOn.next("the end of the fetch")
                return FetchedSecret(Secret(Task.isCancelled ? "cancelled" : "fetched"))
            }
        }
        #expect(try await begun.next("the fetch") == false)
        let second = Task { try await ask(cache, Source()) }
        first.cancel()
        goOn.post(())
        #expect(try await second.value == "fetched")
    }
}

/// The two clocks of a secret in memory.
@Suite struct CachedSecretTests {
    private static let hour: UInt64 = 3_600_000_000

    private func cached(wallEnd: UInt64?, longest: UInt64) -> CachedSecret {
        CachedSecret(
            SharedSecret(Secret("x")), of: "r", 1, wallEnd: wallEnd, longest: longest,
            now: .init(wall: 100 * Self.hour, boot: Self.hour))
    }

    private func isGood(_ secret: CachedSecret, wall: UInt64, boot: UInt64) -> Bool {
        secret.isGood(at: .init(wall: wall, boot: boot))
    }

    @Test func itEndsOnTime() {
        let secret = cached(wallEnd: 101 * Self.hour, longest: .max)
        #expect(isGood(secret, wall: 101 * Self.hour - 1, boot: 2 * Self.hour - 1))
        #expect(!isGood(secret, wall: 101 * Self.hour, boot: 2 * Self.hour - 1))
        let kept = cached(wallEnd: nil, longest: Self.hour)
        #expect(isGood(kept, wall: 500 * Self.hour, boot: 2 * Self.hour - 1))
        #expect(!isGood(kept, wall: 100 * Self.hour, boot: 2 * Self.hour))
    }

    /// B137: a clock that is set back makes no dead secret live, and one that is set forward ends it.
    @Test func aClockThatIsSetLengthensNothing() {
        let secret = cached(wallEnd: 101 * Self.hour, longest: .max)
        #expect(!isGood(secret, wall: 98 * Self.hour, boot: Self.hour + 1))
        #expect(!isGood(secret, wall: 100 * Self.hour, boot: 2 * Self.hour))
        #expect(!isGood(secret, wall: 148 * Self.hour, boot: Self.hour + 1))
        #expect(
            !isGood(cached(wallEnd: 99 * Self.hour, longest: .max), wall: 100 * Self.hour, boot: Self.hour))
    }

    /// B138: a machine that slept through the end does not hand it out.
    @Test func sleepCounts() {
        let secret = cached(wallEnd: 100 * Self.hour + Self.hour / 6, longest: .max)
        #expect(!isGood(secret, wall: 100 * Self.hour, boot: 2 * Self.hour))
    }
}
