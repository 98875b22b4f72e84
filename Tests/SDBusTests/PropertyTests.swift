import SDBus
import TestKit
import Testing

@Suite struct PropertyTests {
    init() { TestLoop.start() }

    @BrokerActor private func get(_ fixture: Fixture, _ name: String) async throws(BusError) -> String {
        let reply = try await fixture.client.call(
            Fixture.name, path: Fixture.path, interface: "org.freedesktop.DBus.Properties", member: "Get",
            Fixture.name, name, timeoutMicroseconds: TestLoop.patienceMicroseconds)
        return try reply.withReader { (reader) throws(BusError) in
            _ = try reader.enter("v", "s")
            return try reader.read()
        }
    }

    @BrokerActor @Test func aGetterKnowsWhoAsks() async throws {
        let fixture = try await Fixture(Echo().interface)
        #expect(try await get(fixture, "Asker") == fixture.client.uniqueName)
        #expect(try await get(fixture, "Version") == "1")
    }

    @BrokerActor @Test func aGetterMayRefuse() async throws {
        let fixture = try await Fixture(Echo().interface)
        await #expect(throws: BusError(name: "org.lab.Error.No", message: "No.")) {
            try await get(fixture, "Broken")
        }
        #expect(try await get(fixture, "Version") == "1")
    }

    @BrokerActor @Test func propertiesCannotBeWritten() async throws {
        let fixture = try await Fixture(Echo().interface)
        await #expect {
            try await fixture.client.call(
                Fixture.name, path: Fixture.path, interface: "org.freedesktop.DBus.Properties", member: "Set"
            ) { (writer) throws(BusError) in
                try writer.append(Fixture.name)
                try writer.append("Version")
                try writer.variant("2")
            }
        } throws: { ($0 as? BusError)?.name == "org.freedesktop.DBus.Error.PropertyReadOnly" }
    }

    @BrokerActor @Test func changesGoOutWithTheirValuesOrWithout() async throws {
        let echo = Echo()
        let fixture = try await Fixture(echo.interface)
        let changes = Mailbox<[String]>()
        let match = try await fixture.client.matchSignal(
            sender: fixture.service.uniqueName, interface: "org.freedesktop.DBus.Properties"
        ) { signal in
            changes.post((try? signal.withReader(Self.flatten)) ?? ["unreadable"])
        }
        echo.count = 7
        try fixture.service.emitPropertiesChanged(
            at: Fixture.path, interface: Fixture.name, ["Count", "Secret"], invalidated: ["Asker"])
        #expect(
            try await changes.next("the change") == ["org.lab.Echo1", "Count=7", "!Secret", "!Asker"])
        #expect(throws: BusError.self) {
            try fixture.service.emitPropertiesChanged(at: "/absent", interface: Fixture.name, ["Count"])
        }
        match.cancel()
    }

    nonisolated private static func flatten(_ reader: inout MessageReader) throws(BusError) -> [String] {
        var lines = [try reader.read(String.self)]
        try reader.dictionary { (key, value) throws(BusError) in
            lines.append("\(key)=\(try value.read(UInt32.self))")
        }
        return lines + (try reader.read([String].self)).map { "!" + $0 }
    }
}
