import Chatelaine
import SDBus
import TestKit
import Testing

/// ``VaultEvents`` against a real broker, which is killed, started again and logged out meanwhile.
@Suite struct EventsTests {
    private static let group = "org.example.suite"

    /// What a test takes events from, one at a time.
    private actor Follower {
        private var iterator: VaultEvents.Iterator?

        init(_ events: VaultEvents) { iterator = events.makeAsyncIterator() }

        func next() async throws -> VaultEvent? {
            guard var taken = iterator else { throw TestFailure("two callers wait for one event") }
            iterator = nil
            defer { iterator = taken }
            return try await taken.next()
        }
    }

    private func next(_ follower: Follower) async throws -> VaultEvent? {
        try await within("an event") { try await follower.next() }
    }

    private func follow(
        _ stage: BrokerStage, _ way: BrokerStage.Way = .bus, handled epoch: UInt64? = nil
    ) async throws -> Follower {
        Follower(stage.vault(group: Self.group, way: way).events(handled: epoch))
    }

    @Test(arguments: BrokerStage.Way.allCases)
    func theyComeInOrder(way: BrokerStage.Way) async throws {
        let stage = try await BrokerStage()
        let follower = try await follow(stage, way)
        #expect(try await next(follower) == .subscribed(.unlocked, epochs: [Self.group: 0]))
        let vault = stage.vault(group: Self.group)
        try await vault.store(Secret("one"), account: "alice")
        try await vault.store(Secret("two"), account: "alice")
        try await stage.setPasscode()
        try await stage.lock()
        try await vault.remove(account: "alice")
        try await stage.unlock()
        var kinds: [VaultEvent.ItemChange.Kind] = []
        for _ in 1...2 {
            guard case .changed(let change) = try await next(follower) else { throw TestFailure("no change") }
            kinds.append(change.kind)
        }
        #expect(kinds == [.added, .updated])
        #expect(try await next(follower) == .lockState(.locked))
        guard case .changed(let removed) = try await next(follower) else { throw TestFailure("no change") }
        #expect(removed.kind == .removed && removed.group == Self.group)
        #expect(try await next(follower) == .lockState(.unlocked))
    }

    @BrokerActor @Test func anItemThatWantsRenewingIsTold() async throws {
        let stage = try await BrokerStage()
        let follower = try await follow(stage)
        _ = try await next(follower)
        var item = Attributes()
        item["Class"] = .text("generic-password")
        item["AccessGroup"] = .text(Self.group)
        item["FreshUntil"] = .counter(1)
        let stored = try await stage.user().add(item, SharedSecret(Secret("x")))
        guard case .changed = try await next(follower) else { throw TestFailure("no change") }
        #expect(
            try await next(follower) == .refreshNeeded(group: Self.group, reference: stored.reference))
    }

    @Test func aLogoutIsAcknowledgedWhenItWasHandled() async throws {
        let stage = try await BrokerStage()
        let follower = try await follow(stage)
        _ = try await next(follower)
        _ = try await stage.user().forceLogout(
            group: Self.group, service: "https://mail.example", reason: "r")
        guard case .loggedOut(let logout) = try await next(follower) else { throw TestFailure("no logout") }
        #expect(logout.epoch == 1 && logout.reason == "r" && !logout.wasMissed)
        #expect(logout.concerns(service: "https://mail.example") && !logout.concerns(service: "other"))
        #expect(try await stage.pendingLogouts() == 1)
        let after = Task { try await follower.next() }
        try await waitUntil("the acknowledgement") { try await stage.pendingLogouts() == 0 }
        after.cancel()
        #expect(try await within("the end") { try await after.value } == nil)
    }

    /// A kill, and a logout before the subscriber is back.
    @Test(arguments: BrokerStage.Way.allCases)
    func aLogoutThatWasMissedIsToldFirst(way: BrokerStage.Way) async throws {
        let stage = try await BrokerStage()
        let follower = try await follow(stage, way)
        #expect(try await next(follower) == .subscribed(.unlocked, epochs: [Self.group: 0]))
        await stage.killBroker()
        #expect(try await next(follower) == .interrupted)
        try await stage.startBroker()
        _ = try await stage.user().forceLogout(group: Self.group, service: "", reason: "")
        guard case .loggedOut(let logout) = try await next(follower) else { throw TestFailure("no logout") }
        #expect(logout.wasMissed && logout.epoch == 1 && logout.concerns(service: "anything"))
        #expect(try await next(follower) == .subscribed(.unlocked, epochs: [Self.group: 1]))
        try await stage.vault(group: Self.group).store(Secret("x"), account: "alice")
        guard case .changed = try await next(follower) else { throw TestFailure("no change") }
    }

    /// B128: a program that was not running learns at its start what it has not handled, and then no more of it.
    @Test func anEpochOfAnEarlierRunTellsWhatWasMissed() async throws {
        let stage = try await BrokerStage()
        _ = try await stage.user().forceLogout(group: Self.group, service: "", reason: "")
        let late = try await follow(stage, handled: 0)
        guard case .loggedOut(let logout) = try await next(late) else { throw TestFailure("no logout") }
        #expect(logout.wasMissed && logout.epoch == 1)
        let current = try await follow(stage, handled: 1)
        #expect(try await next(current) == .subscribed(.unlocked, epochs: [Self.group: 1]))
    }

    @Test func theBrokersRestartIsFollowedAgainAndAgain() async throws {
        let stage = try await BrokerStage()
        let follower = try await follow(stage)
        _ = try await next(follower)
        for _ in 1...3 {
            await stage.killBroker()
            #expect(try await next(follower) == .interrupted)
            try await stage.startBroker()
            #expect(try await next(follower) == .subscribed(.unlocked, epochs: [Self.group: 0]))
        }
    }

    /// The bus dies, and the broker with it; both come back, and so does the subscription, with what was missed.
    @Test func aBusThatGoesIsAnInterruption() async throws {
        let stage = try await BrokerStage()
        let follower = try await follow(stage)
        let vault = stage.vault(group: Self.group)
        try await vault.store(Secret("one"), account: "alice")
        #expect(try await next(follower) == .subscribed(.unlocked, epochs: [Self.group: 0]))
        await stage.bus.kill()
        #expect(try await next(follower) == .interrupted)
        #expect(await failure { try await vault.read(account: "alice") }?.name == "brokerMissing")
        await stage.endBroker()
        try await stage.bus.restart()
        try await stage.startBroker()
        #expect(try await text(vault, "alice") == "one")
        try await vault.logOut()
        guard case .loggedOut(let logout) = try await next(follower) else { throw TestFailure("no logout") }
        #expect(logout.wasMissed && logout.epoch == 1)
        #expect(try await next(follower) == .subscribed(.unlocked, epochs: [Self.group: 1]))
    }

    @Test func aCancelledFollowerEnds() async throws {
        let stage = try await BrokerStage()
        let follower = try await follow(stage)
        _ = try await next(follower)
        let waiting = Task { try await follower.next() }
        waiting.cancel()
        #expect(try await within("the end") { try await waiting.value } == nil)
        try await waitUntil("the subscription to end") { try await stage.subscribers() == 0 }
    }

    @Test func whoLeavesTheLoopIsNoSubscriberAnyMore() async throws {
        let stage = try await BrokerStage()
        for try await event in stage.vault(group: Self.group).events() {
            #expect(event == .subscribed(.unlocked, epochs: [Self.group: 0]))
            break
        }
        try await waitUntil("the subscription to end") { try await stage.subscribers() == 0 }
    }

    @Test func aGroupOfOthersEndsIt() async throws {
        let stage = try await BrokerStage()
        let follower = Follower(stage.vault(group: "org.example.others").events())
        await #expect(throws: VaultError.self) { try await follower.next() }
    }

    /// B140: another process is told of the new version.
    @Test func anotherProcessIsTold() async throws {
        let stage = try await BrokerStage()
        let client = try await stage.startClient([stage.bus.address, "hold", "0"])
        #expect(try await within("its start") { await client.output.next() } == "subscribed unlocked")
        try client.write("\n")
        try await stage.vault(group: Self.group).store(Secret("two"), account: "alice")
        #expect(try await within("the change") { await client.output.next() } == "changed added")
        try client.write("\n")
        _ = try await stage.user().forceLogout(group: Self.group, service: "", reason: "")
        #expect(try await within("the change") { await client.output.next() } == "logged out 1 missed false")
        #expect(try await stage.pendingLogouts() == 1)
        client.kill()
        _ = await client.waitForExit()
        let again = try await stage.startClient([stage.bus.address, "hold", "0"])
        #expect(try await within("its start") { await again.output.next() } == "logged out 1 missed true")
    }
}

extension BrokerStage {
    /// Logouts that subscribers have not acknowledged.
    @BrokerActor func pendingLogouts() async throws -> UInt32 {
        try await user().clients().reduce(0) { $0 + $1.pendingLogouts }
    }
}
