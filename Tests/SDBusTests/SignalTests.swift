import SDBus
import TestKit
import Testing

@Suite struct SignalTests {
    init() { TestLoop.start() }

    @BrokerActor @Test func aSignalToOneReachesThatOneAlone() async throws {
        let fixture = try await Fixture(Echo().interface)
        let other = try Connection.open(address: fixture.bus.address)
        let (here, there) = (Mailbox<String>(), Mailbox<String>())
        let matches = [
            try await match(fixture.client, here), try await match(other, there),
        ]
        for index in 0..<3 { try emit(fixture, "\(index)", to: fixture.client.uniqueName) }
        try emit(fixture, "all", to: nil)
        for index in 0..<3 { #expect(try await here.next("a signal") == "\(index)") }
        #expect(try await here.next("the last signal") == "all")
        #expect(try await there.next("the signal to all") == "all")
        matches.forEach { $0.cancel() }
    }

    @BrokerActor @Test func aCancelledMatchHearsNothing() async throws {
        let fixture = try await Fixture(Echo().interface)
        let (first, second) = (Mailbox<String>(), Mailbox<String>())
        let cancelled = try await match(fixture.client, first)
        let kept = try await match(fixture.client, second)
        cancelled.cancel()
        try emit(fixture, "x", to: nil)
        #expect(try await second.next("the signal") == "x")
        first.post("nothing before this")
        #expect(try await first.next("what was posted here") == "nothing before this")
        kept.cancel()
    }

    @BrokerActor @Test func aMatchThatTheBusRefusesIsAnError() async throws {
        let fixture = try await Fixture(Echo().interface)
        await #expect(throws: BusError.self) {
            _ = try await fixture.client.matchSignal(path: "no path") { _ in }
        }
        await #expect(throws: BusError.self) {
            _ = try await fixture.client.matchSignal(sender: "x',member='y") { _ in }
        }
        #expect(try await fixture.call("Flag", true).read(Bool.self) == false)
    }

    @BrokerActor @Test func namesThatComeAndGoAreTold() async throws {
        let fixture = try await Fixture(Echo().interface)
        let changes = Mailbox<[String]>()
        let watch = try await fixture.service.onNameOwnerChanged { changes.post([$0, $1, $2]) }
        let one = Mailbox<String>()
        let single = try await fixture.service.onNameOwnerChanged(name: "org.lab.Two") { _, _, new in
            one.post(new)
        }
        let other = try Connection.open(address: fixture.bus.address)
        let name = try #require(other.uniqueName)
        #expect(try await changes.next("the connection") == [name, "", name])
        try await other.requestName("org.lab.Two")
        #expect(try await changes.next("the name") == ["org.lab.Two", "", name])
        other.close()
        let gone = [try await changes.next("a loss"), try await changes.next("a loss")]
        #expect(Set(gone) == [["org.lab.Two", name, ""], [name, name, ""]])
        #expect(try await one.next("the owner") == name)
        #expect(try await one.next("the loss") == "")
        watch.cancel()
        single.cancel()
    }

    /// What is sent to one connection alone comes whatever it has asked the bus for.
    @BrokerActor @Test func nobodyElseTellsOfNames() async throws {
        let fixture = try await Fixture(Echo().interface)
        let changes = Mailbox<String>()
        let watch = try await fixture.service.onNameOwnerChanged { name, _, _ in changes.post(name) }
        let bus = "org.freedesktop.DBus"
        try fixture.client.emit(
            signal: "NameOwnerChanged", interface: bus, path: "/org/freedesktop/DBus",
            to: fixture.service.uniqueName, ":1.999", ":1.999", "")
        try await fixture.client.requestName("org.lab.Real")
        #expect(try await changes.next("a name") == "org.lab.Real")
        watch.cancel()
    }

    @BrokerActor private func match(
        _ connection: Connection, _ mailbox: Mailbox<String>
    ) async throws -> Registration {
        try await connection.matchSignal(interface: Fixture.name, member: "Changed") { signal in
            let text = (try? signal.read(ObjectPath.self, String.self).1) ?? "unreadable"
            mailbox.post(signal.path == Fixture.path ? text : "another path")
        }
    }

    @BrokerActor private func emit(_ fixture: Fixture, _ text: String, to destination: String?) throws {
        try fixture.service.emit(
            signal: "Changed", interface: Fixture.name, path: Fixture.path, to: destination, ObjectPath("/p"),
            text)
    }
}
