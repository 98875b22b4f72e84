import SDBus
import TestKit
import Testing

@Suite struct CallTests {
    init() { TestLoop.start() }

    @BrokerActor @Test func numbersCrossBothWays() async throws {
        let fixture = try await Fixture(Echo().interface)
        let reply = try await fixture.call(
            "Numbers", UInt8(255), Int16(-7), UInt16(65_535), Int32.min + 7, UInt32.max - 65_790,
            Int64(-1), UInt64.max, -0.5)
        let (i, u, t, d) = try reply.read(Int32.self, UInt32.self, UInt64.self, Double.self)
        #expect(i == Int32.min)
        #expect(u == UInt32.max)
        #expect(t == UInt64.max - 1)
        #expect(d == -0.5)
        #expect(reply.signature == "iutd")
    }

    @BrokerActor @Test func textsPathsAndListsCrossBothWays() async throws {
        let fixture = try await Fixture(Echo().interface)
        let long = String(repeating: "ä€😀", count: 5_000)
        let reply = try await fixture.call("Texts", long, ObjectPath("/a/b"), ["", "x", long])
        let (text, path, list) = try reply.read(String.self, ObjectPath.self, [String].self)
        #expect(text == long)
        #expect(path == "/a/b")
        #expect(list == ["", "x", long])
        #expect(try await fixture.call("Flag", true).read(Bool.self) == false)
        #expect(
            try await fixture.call("Map", ["a": UInt32(1), "b": 2]).read([String: UInt32].self) == [
                "a": 1, "b": 2,
            ])
    }

    @BrokerActor @Test func structuresAndBytesCrossBothWays() async throws {
        let fixture = try await Fixture(Echo().interface)
        let points = [
            Point(x: 1, tail: []), Point(x: -2, tail: [0, 255]), Point(x: 3, tail: Array(0...200)),
        ]
        #expect(try await fixture.call("Points", points).read([Point].self) == points.reversed())
        #expect(try await fixture.call("Points", [Point]()).read([Point].self) == [])
        #expect(try await fixture.call("Blob").read([UInt8].self) == [1, 2, 3])
    }

    @BrokerActor @Test func noResultIsAnEmptyReply() async throws {
        let fixture = try await Fixture(Echo().interface)
        #expect(try await fixture.call("Nothing").signature == "")
    }

    @BrokerActor @Test func variantsOfUnknownTypesAreLookedAtAndPassedOver() async throws {
        let fixture = try await Fixture(Echo().interface)
        let reply = try await fixture.client.call(
            Fixture.name, path: Fixture.path, interface: Fixture.name, member: "Look",
            timeoutMicroseconds: TestLoop.patienceMicroseconds
        ) { (writer) throws(BusError) in
            try writer.open("a", "{sv}")
            try writer.entry("text", "value")
            try writer.entry("number", UInt32(7))
            try writer.entry("bytes", [UInt8](arrayLiteral: 1, 2))
            try writer.entry("deep", [Point(x: 1, tail: [1])])
            try writer.entry("map", ["k": UInt64(1)])
            try writer.close()
        }
        #expect(
            try reply.read([String].self) == [
                "bytes:ay", "deep:a(iay)", "map:a{st}", "number:u", "text:s", "value",
            ])
    }

    @BrokerActor @Test func aReplyOfOtherTypesIsAnError() async throws {
        let fixture = try await Fixture(Echo().interface)
        let reply = try await fixture.call("Blob")
        #expect(throws: BusError.self) { try reply.read(String.self) }
        #expect(throws: BusError.self) { try reply.read([UInt8].self, String.self) }
        #expect(try reply.read([UInt8].self) == [1, 2, 3])
    }

    @BrokerActor @Test func theCallerAndItsFlagsAreKnown() async throws {
        let fixture = try await Fixture(Echo().interface)
        let name = try #require(fixture.client.uniqueName)
        for allowed in [true, false] {
            let reply = try await fixture.client.call(
                Fixture.name, path: Fixture.path, interface: Fixture.name, member: "Who",
                timeoutMicroseconds: TestLoop.patienceMicroseconds, allowInteraction: allowed)
            let (sender, interaction) = try reply.read(String.self, Bool.self)
            #expect(sender == name)
            #expect(interaction == allowed)
        }
    }

    @BrokerActor @Test func senderIsComparedAndHashedWithoutAString() async throws {
        let fixture = try await Fixture(
            Interface(Fixture.name) {
                Method("Compare", in: ["name"], out: ["same", "hash"]) { (call, name: String) in
                    (call.senderMatches(name), call.senderHash)
                }
            })
        let name = try #require(fixture.client.uniqueName)
        let (same, hash) = try await fixture.call("Compare", name).read(Bool.self, UInt64.self)
        let (other, again) = try await fixture.call("Compare", name + "1").read(Bool.self, UInt64.self)
        #expect(same)
        #expect(!other)
        #expect(hash == again && hash != 0)
    }

    @BrokerActor @Test func descriptorsAreHandedOver() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("inside", to: "file")
        let fixture = try await Fixture(
            Interface(Fixture.name) {
                Method("Read", in: ["fd"], out: ["text"]) {
                    (_, received: ReceivedFD) throws(BusError) -> String in
                    try Files.contents(received.duplicate())
                }
                Method("Open", out: ["fd"]) { _ throws(BusError) in try Files.open(file) }
            })
        let reply = try await fixture.client.call(
            Fixture.name, path: Fixture.path, interface: Fixture.name, member: "Read",
            timeoutMicroseconds: TestLoop.patienceMicroseconds
        ) { (writer) throws(BusError) in try writer.append(Files.open(file)) }
        #expect(try reply.read(String.self) == "inside")
        let opened = try await fixture.call("Open").withReader { (reader) throws(BusError) in
            try Files.contents(reader.read(UnixFD.self))
        }
        #expect(opened == "inside")
    }

    @BrokerActor @Test func theBusItselfIsCalled() async throws {
        let fixture = try await Fixture(Echo().interface)
        let reply = try await fixture.service.callBus(
            "GetConnectionCredentials", try #require(fixture.client.uniqueName))
        var process: UInt32 = 0
        var keys: [String] = []
        try reply.withReader { (reader) throws(BusError) in
            try reader.dictionary { (key, value) throws(BusError) in
                keys.append(key)
                if key == "ProcessID" { process = try value.read(UInt32.self) }
            }
        }
        #expect(process == Files.processID)
        #expect(keys.contains("UnixUserID"))
    }

    @BrokerActor @Test func aNameThatSomebodyOwnsIsItsOwnError() async throws {
        let fixture = try await Fixture(Echo().interface)
        try await fixture.service.requestName(Fixture.name)
        await #expect(throws: BusError.nameTaken) { try await fixture.client.requestName(Fixture.name) }
        try await fixture.service.releaseName(Fixture.name)
        try await fixture.client.requestName(Fixture.name)
    }
}
