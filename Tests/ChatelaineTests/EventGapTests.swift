import Chatelaine
import SDBus
import TestKit
import Testing

/// What loses signals: a broker's interface of the tests' own, whose numbers a test sets.
@BrokerActor final class LossyBroker {
    private static let subscriptions = "org.chatelaine.Broker1.Subscriptions"
    private static let path = "/org/chatelaine/Broker1"
    private let connection: Connection
    private var registration: Registration?
    private var subscriber: String?
    /// What `Subscribe` answers with.
    var epoch: UInt64 = 0
    var sequence: UInt64 = 0
    /// Whether it takes no subscriber.
    var isRefusing = false
    let acknowledged = Mailbox<UInt64>()

    /// An epoch of a group, `a(st)`.
    private struct Epochs: BusEncodable, Sendable {
        static var signature: String { "a(st)" }
        let epoch: UInt64

        func encode(to writer: inout MessageWriter) throws(BusError) {
            try writer.open("a", "(st)")
            try writer.open("r", "st")
            try writer.append("org.example.suite")
            try writer.append(epoch)
            try writer.close()
            try writer.close()
        }
    }

    init(_ bus: PrivateBus) async throws {
        connection = try Connection.open(address: bus.address)
        let interface = Interface(Self.subscriptions) {
            Method("Subscribe", in: ["groups"], out: ["state", "epochs", "sequence"]) {
                [self] (call, _: [String]) throws(BusError) in
                if isRefusing { throw .failed("not now") }
                subscriber = call.sender
                return ("unlocked", Epochs(epoch: epoch), sequence)
            }
            Method("Acknowledge", in: ["group", "epoch"]) { [self] (_, _: String, epoch: UInt64) in
                acknowledged.post(epoch)
            }
        }
        registration = try connection.export([interface], at: Self.path)
        try await connection.requestName("org.chatelaine.Broker1")
    }

    func send(_ number: UInt64, lockedAs state: String) throws {
        try connection.emit(
            signal: "LockStateChanged", interface: Self.subscriptions, path: Self.path, to: subscriber,
            number,
            state, state == "unlocked")
    }

    func send(_ number: UInt64, logout epoch: UInt64) throws {
        try connection.emit(
            signal: "LoggedOut", interface: Self.subscriptions, path: Self.path, to: subscriber, number,
            "org.example.suite", "service", epoch, "reason")
    }

    func send(_ number: UInt64, toRefresh reference: String) throws {
        try connection.emit(
            signal: "RefreshNeeded", interface: Self.subscriptions, path: Self.path, to: subscriber, number,
            "org.example.suite", reference)
    }

    /// Gives the name back, and comes back when the bus has it.
    func leave() async throws { try await connection.releaseName("org.chatelaine.Broker1") }

    func close() {
        registration?.cancel()
        connection.close()
    }
}

/// Numbers that are left out.
@Suite struct EventGapTests {
    init() { TestLoop.start() }

    @BrokerActor @Test func aGapIsToldAndSubscribedAnew() async throws {
        let bus = try await PrivateBus.start()
        let broker = try await LossyBroker(bus)
        defer { broker.close() }
        var events = VaultEvents(groups: ["org.example.suite"], at: .address(bus.address)).makeAsyncIterator()
        #expect(try await events.next() == .subscribed(.unlocked, epochs: ["org.example.suite": 0]))
        try broker.send(1, lockedAs: "locked")
        #expect(try await events.next() == .lockState(.locked))
        // 2 is lost, a logout. What follows the gap is in the queue already when it is noticed.
        (broker.epoch, broker.sequence) = (2, 5)
        try broker.send(3, lockedAs: "unlocked")
        try broker.send(4, logout: 2)
        try broker.send(5, lockedAs: "locked")
        #expect(try await events.next() == .gap)
        guard case .loggedOut(let missed) = try await events.next() else { throw TestFailure("no logout") }
        #expect(missed.epoch == 2 && missed.wasMissed && missed.service.isEmpty)
        #expect(try await events.next() == .subscribed(.unlocked, epochs: ["org.example.suite": 2]))
        #expect(try await broker.acknowledged.next("the acknowledgement") == 2)
        #expect(try await events.next() == .lockState(.unlocked))
        // 4 told of the logout that subscribing anew has told of: once is enough.
        #expect(try await events.next() == .lockState(.locked))
        try broker.send(6, logout: 3)
        guard case .loggedOut(let third) = try await events.next() else { throw TestFailure("no logout") }
        #expect(third.epoch == 3 && !third.wasMissed)
        try broker.send(7, toRefresh: "r")
        #expect(try await events.next() == .refreshNeeded(group: "org.example.suite", reference: "r"))
    }

    /// 1 and 2 are lost, of which one was a logout; what the queue still has of logouts is older than what is known.
    @BrokerActor @Test func aLogoutIsToldOnce() async throws {
        let bus = try await PrivateBus.start()
        let broker = try await LossyBroker(bus)
        defer { broker.close() }
        var events = VaultEvents(groups: ["org.example.suite"], at: .address(bus.address)).makeAsyncIterator()
        #expect(try await events.next() == .subscribed(.unlocked, epochs: ["org.example.suite": 0]))
        (broker.epoch, broker.sequence) = (3, 6)
        try broker.send(3, lockedAs: "unlocked")
        try broker.send(4, logout: 2)
        try broker.send(5, logout: 3)
        try broker.send(6, lockedAs: "locked")
        #expect(try await events.next() == .gap)
        guard case .loggedOut(let missed) = try await events.next() else { throw TestFailure("no logout") }
        #expect(missed.epoch == 3 && missed.wasMissed)
        #expect(try await events.next() == .subscribed(.unlocked, epochs: ["org.example.suite": 3]))
        #expect(try await events.next() == .lockState(.unlocked))
        #expect(try await events.next() == .lockState(.locked))
    }

    /// What came over a subscription that is gone is not believed behind the interruption.
    @BrokerActor @Test func nothingIsToldWhenSubscribingAnewHasFailed() async throws {
        let bus = try await PrivateBus.start()
        let broker = try await LossyBroker(bus)
        defer { broker.close() }
        var events = VaultEvents(groups: ["org.example.suite"], at: .address(bus.address)).makeAsyncIterator()
        #expect(try await events.next() == .subscribed(.unlocked, epochs: ["org.example.suite": 0]))
        broker.isRefusing = true
        try broker.send(2, lockedAs: "unlocked")
        #expect(try await events.next() == .gap)
        #expect(try await events.next() == .interrupted)
        (broker.isRefusing, broker.sequence) = (false, 2)
        #expect(try await events.next() == .subscribed(.unlocked, epochs: ["org.example.suite": 0]))
    }

    /// The broker goes when its name was looked at, and the bus does not watch the name yet.
    @BrokerActor @Test func aBrokerThatGoesBeforeItIsWatchedEndsTheEvents() async throws {
        let bus = try await PrivateBus.start()
        let broker = try await LossyBroker(bus)
        defer { broker.close() }
        let tap = try BusTap(bus) { said in
            if said.contains("NameOwnerChanged") { try? await broker.leave() }
        }
        let client = try Broker.connect(to: .address(tap.address))
        defer { client.close() }
        let events = try await client.events()
        try await within("the end") { for await _ in events {} }
    }
}
