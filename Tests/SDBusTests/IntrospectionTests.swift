import SDBus
import TestKit
import Testing

@Suite struct IntrospectionTests {
    init() { TestLoop.start() }

    @BrokerActor private func introspect(_ fixture: Fixture, _ path: String) async throws -> String {
        try await fixture.client.call(
            Fixture.name, path: path, interface: "org.freedesktop.DBus.Introspectable", member: "Introspect",
            timeoutMicroseconds: TestLoop.patienceMicroseconds
        ).read(String.self)
    }

    @BrokerActor @Test func membersAreListedWithTheirTypesAndNames() async throws {
        let fixture = try await Fixture(Echo().interface)
        let xml = try await introspect(fixture, Fixture.path)
        let squeezed = xml.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for expected in [
            #"<interface name="org.lab.Echo1">"#,
            #"<method name="Texts"> <arg type="s" name="s" direction="in"/> <arg type="o" name="o" direction="in"/> "#
                + #"<arg type="as" name="list" direction="in"/> <arg type="s" name="s" direction="out"/>"#,
            #"<method name="Nothing">"#,
            #"<method name="Look"> <arg type="a{sv}" name="attributes" direction="in"/>"#,
            #"<signal name="Changed"> <arg type="o" name="path"/> <arg type="u" name="n"/>"#,
            #"<property name="Count" type="u" access="read">"#,
            #"<method name="Introspect">"#, #"<method name="Ping"/>"#,
        ] {
            #expect(squeezed.contains(expected), "\(expected)")
        }
    }

    @BrokerActor @Test func missingNamesAreMadeUpAndSurplusOnesLeftOut() async throws {
        let fixture = try await Fixture(
            Interface(Fixture.name) {
                Method("Some", in: ["first"], out: ["a", "b", "c"]) { (_, s: String, u: UInt32) in s }
            })
        let xml = try await introspect(fixture, Fixture.path)
        #expect(xml.contains(#"name="first""#))
        #expect(xml.contains(#"<arg type="u" name="arg1" direction="in"/>"#))
        #expect(!xml.contains(#"name="b""#))
    }

    @BrokerActor @Test func oneResultMayBeSeveralValues() async throws {
        let fixture = try await Fixture(
            Interface(Fixture.name) {
                Method("Pair", out: ["text", "blob"]) { _ in TextAndBlob() }.sensitive
            })
        let (text, blob) = try await fixture.call("Pair").read(String.self, [UInt8].self)
        #expect(text == "t" && blob == [9])
        #expect(
            try await introspect(fixture, Fixture.path).contains(
                #"<arg type="ay" name="blob" direction="out"/>"#))
    }

    @BrokerActor @Test func objectsBelowAPrefixAreFoundAndListed() async throws {
        let fixture = try await Fixture(Echo().interface)
        let prefix = "/org/lab/session"
        let sessions = Interface("org.lab.Session1") {
            Method("Where", out: ["path"]) { call in ObjectPath(call.path) }
            Property("Tag", .emitsChange) { call in call.path }
        }
        let known = ["\(prefix)/1", "\(prefix)/22"]
        let registration = try fixture.service.exportFallback(
            sessions, prefix: prefix, find: { known.contains($0) }, nodes: { _ in known })
        for path in known {
            let reply = try await fixture.client.call(
                Fixture.name, path: path, interface: "org.lab.Session1", member: "Where",
                timeoutMicroseconds: TestLoop.patienceMicroseconds)
            #expect(try reply.read(ObjectPath.self) == ObjectPath(path))
        }
        await #expect {
            try await fixture.client.call(
                Fixture.name, path: "\(prefix)/3", interface: "org.lab.Session1", member: "Where",
                timeoutMicroseconds: TestLoop.patienceMicroseconds)
        } throws: { ($0 as? BusError)?.name == "org.freedesktop.DBus.Error.UnknownObject" }
        let xml = try await introspect(fixture, prefix)
        #expect(xml.contains(#"<node name="1"/>"#) && xml.contains(#"<node name="22"/>"#))
        #expect(try await introspect(fixture, "\(prefix)/22").contains("org.lab.Session1"))
        registration.cancel()
        await #expect(throws: BusError.self) { try await introspect(fixture, "\(prefix)/22") }
    }

    @BrokerActor @Test func anObjectIsGoneWithItsRegistration() async throws {
        let fixture = try await Fixture(Echo().interface)
        var registration: Registration? = try fixture.service.export(
            [Interface("org.lab.Other1") { Method("Ping") { _ in } }], at: "/other")
        try await fixture.client.call(
            Fixture.name, path: "/other", interface: "org.lab.Other1", member: "Ping",
            timeoutMicroseconds: TestLoop.patienceMicroseconds)
        #expect(throws: BusError.self) {
            try fixture.service.export(
                [Interface("org.lab.Other1") { Method("Ping") { _ in } }], at: "/other")
        }
        #expect(registration != nil)
        registration = nil
        await #expect(throws: BusError.self) {
            try await fixture.client.call(
                Fixture.name, path: "/other", interface: "org.lab.Other1", member: "Ping")
        }
    }

    @BrokerActor @Test func oneInterfaceServesManyObjectsAndConnections() async throws {
        let interface = Echo().interface
        let fixture = try await Fixture(interface)
        let second = try fixture.service.export([interface], at: "/second")
        let other = try fixture.client.export([interface], at: "/mine")
        let mine = try #require(fixture.client.uniqueName)
        #expect(
            try await fixture.client.call(
                Fixture.name, path: "/second", interface: Fixture.name, member: "Flag", false,
                timeoutMicroseconds: TestLoop.patienceMicroseconds
            ).read(Bool.self))
        #expect(
            try await fixture.service.call(
                mine, path: "/mine", interface: Fixture.name, member: "Flag", false,
                timeoutMicroseconds: TestLoop.patienceMicroseconds
            )
            .read(Bool.self))
        second.cancel()
        other.cancel()
    }

    @BrokerActor @Test func aHandlerMayTakeItsOwnObjectAway() async throws {
        let fixture = try await Fixture(Echo().interface)
        var registration: Registration?
        registration = try fixture.service.export(
            [
                Interface("org.lab.Session1") {
                    Method("Close") { _ in
                        registration?.cancel()
                        registration = nil
                    }
                }
            ], at: "/session/1")
        try await fixture.client.call(
            Fixture.name, path: "/session/1", interface: "org.lab.Session1", member: "Close",
            timeoutMicroseconds: TestLoop.patienceMicroseconds)
        #expect(registration == nil)
        await #expect(throws: BusError.self) {
            try await fixture.client.call(
                Fixture.name, path: "/session/1", interface: "org.lab.Session1", member: "Close")
        }
    }
}

/// A reply of two values.
private struct TextAndBlob: ~Copyable, BusEncodable {
    static var signature: String { "say" }

    borrowing func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.append("t")
        try writer.append([UInt8](repeating: 9, count: 1))
    }
}
