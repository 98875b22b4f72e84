import TestKit
import Testing

@Suite struct WatchTests {
    init() { TestLoop.start() }

    @Test func everySignalIsALine() async throws {
        let stage = try await Stage()
        let watch = try await stage.start(["watch"])
        #expect(
            try await line(watch)
                == #"Subscribed Sequence=0 State=unlocked Epochs={"org.example.mail":0,"org.example.suite":0}"#
        )
        #expect(try await stage.run(["set", "--service", "web"], input: "x").status == .exited(0))
        let added = try #require(try await line(watch))
        #expect(
            added.wholeMatch(
                of: /ItemChanged Sequence=1 Group=org.example.mail Reference=\w+ Change=added Revision=1/)
                != nil)
        _ = try await stage.run(["passcode", "set"], input: "open\n")
        _ = try await stage.run(["lock"])
        #expect(
            try await line(watch) == "LockStateChanged Sequence=2 State=locked ProtectedDataAvailable=false")
        _ = try await stage.run(["unlock"], input: "open\n")
        #expect(
            try await line(watch) == "LockStateChanged Sequence=3 State=unlocked ProtectedDataAvailable=true")
        _ = try await stage.run(["logout", "--group", "org.example.mail", "--reason", "gone away"])
        #expect(
            try await line(watch)
                == #"LoggedOut Sequence=4 Group=org.example.mail Service="" Epoch=1 Reason="gone away""#)
    }

    @Test func anItemThatWantsRenewingIsALine() async throws {
        let stage = try await Stage()
        let watch = try await stage.start(["watch", "--group", "org.example.mail"])
        let json = try await stage.start(["--json", "watch", "--group", "org.example.mail"])
        _ = (try await line(watch), try await line(json))
        let item = ["set", "--service", "web", "--fresh-until", "2001-01-01T00:00:00Z"]
        #expect(try await stage.run(item, input: "x").status == .exited(0))
        #expect(try await line(watch)?.hasPrefix("ItemChanged Sequence=1 ") == true)
        let needed = try #require(try await line(watch))
        #expect(
            needed.wholeMatch(of: /RefreshNeeded Sequence=2 Group=org.example.mail Reference=[0-9a-f]{32}/)
                != nil)
        _ = try await line(json)
        let object = try #require(try await line(json))
        let reference = needed.suffix(32)
        #expect(
            object == #"{"Event":"RefreshNeeded","Sequence":2,"Group":"org.example.mail","#
                + #""Reference":"\#(reference)"}"#)
    }

    @Test func aLogoutIsAcknowledged() async throws {
        let stage = try await Stage()
        let watch = try await stage.start(["--json", "watch", "--group", "org.example.suite"])
        #expect(
            try await line(watch)
                == #"{"Event":"Subscribed","Sequence":0,"State":"unlocked","Epochs":{"org.example.suite":0}}"#
        )
        let item = ["set", "--service", "web", "--group", "org.example.suite"]
        #expect(try await stage.run(item, input: "x").status == .exited(0))
        #expect(try await line(watch)?.contains(#""Event":"ItemChanged","Sequence":1"#) == true)
        _ = try await stage.run(["logout", "--group", "org.example.suite", "--service", "web"])
        #expect(
            try await line(watch) == #"{"Event":"LoggedOut","Sequence":2,"Group":"org.example.suite","#
                + #""Service":"web","Epoch":1,"Reason":""}"#)
        try await waitUntil("the acknowledgement to arrive") {
            let clients = try await stage.run(["--json", "clients"]).text
            return clients.contains(#""Subscribed":["org.example.suite"],"PendingLogouts":0"#)
        }
    }

    @Test func theEndOfTheBrokerEndsIt() async throws {
        let stage = try await Stage()
        let watch = try await stage.start(["watch"])
        _ = try await line(watch)
        await stage.endBroker()
        #expect(try await line(watch) == nil)
        #expect(try await ended(watch) == .exited(5))
    }

    @Test func aGroupThatIsNotTheCallersIsDenied() async throws {
        let stage = try await Stage()
        #expect(try await stage.run(["watch", "--group", "org.example.other"]).status == .exited(3))
    }

    private func line(_ watch: ChildProcess) async throws -> String? {
        try await within("a line of watch") { await watch.output.next() }
    }
}
