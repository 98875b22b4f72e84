import Chatelaine
import TestKit
import Testing

/// The README's examples, as the programs that they are.
@Suite struct ExampleTests {
    private func run(_ name: String, on stage: BrokerStage) async throws -> [String] {
        let example = try await stage.startExample(name)
        let text = try await within("the end of \(name)") { await example.output.rest() }
        #expect(await example.waitForExit() == .exited(0))
        return text.split(separator: "\n").map(String.init)
    }

    @Test(arguments: [
        ("vault", ["logging in with 13 bytes", #"accounts: ["alice"]"#]),
        ("token", ["a token of 10 bytes", "no token"]),
        ("launch", ["show the sign-in page"]),
        ("cache", ["fetched", "a key of 6 bytes", "a key of 6 bytes"]),
        ("key", ["the same key: true"]),
        ("migration", [#"migrated: ["alice.v2"]"#]),
    ])
    func itSaysWhatItDoes(name: String, lines: [String]) async throws {
        let stage = try await BrokerStage()
        #expect(try await run(name, on: stage) == lines)
    }

    @Test func eventsAreFollowed() async throws {
        let stage = try await BrokerStage()
        let example = try await stage.startExample("events")
        #expect(try await within("the start") { await example.output.next() } == "the keychain is unlocked")
        try await stage.setPasscode()
        try await stage.lock()
        #expect(try await within("the lock") { await example.output.next() } == "now it is locked")
        _ = try await stage.user().forceLogout(
            group: "org.example.mail", service: "https://mail.example", reason: "")
        #expect(
            try await within("the logout") { await example.output.next() }
                == "drop what is held, and keep 1 as the last that was handled")
        await stage.killBroker()
        #expect(
            try await within("the end of the broker") { await example.output.next() }
                == "what was read before may be old")
        try await stage.startBroker()
        #expect(
            try await within("the new broker") { await example.output.next() }
                == "the keychain is beforeFirstUnlock")
    }
}
