import SDBus
import TestKit
import Testing

@Suite struct CallTests {
    init() { TestLoop.start() }

    @BrokerActor @Test func aCallIsAnsweredInline() async throws {
        let fixture = try await Fixture(
            Interface(Fixture.name) {
                Method("Ping", out: ["text"]) { call in "pong from \(call.path)" }
            })
        let text = try await fixture.call("Ping").read(String.self)
        #expect(text == "pong from /org/lab/Echo")
    }
}
