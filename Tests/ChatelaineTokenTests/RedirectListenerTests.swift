import SDBus
import Sodium
import TestKit
import Testing

@testable import ChatelaineHTTP

/// How a wait at the redirect's port ends.
@Suite struct RedirectListenerTests {
    init() { TestLoop.start() }

    private static let day: UInt64 = 86_400_000_000

    @BrokerActor private func listener() throws -> RedirectListener {
        try RedirectListener(path: "/", state: secret("right"), timeoutMicroseconds: Self.day)
    }

    /// The status that a request with that query gets.
    private func status(_ listener: RedirectListener, _ query: String) async throws -> String? {
        let script =
            "import sys, urllib.request as r, urllib.error as e\n"
            + "try: print(r.urlopen(sys.argv[1]).status)\nexcept e.HTTPError as error: print(error.code)"
        let client = try await ChildProcess.start(
            ["/usr/bin/python3", "-c", script, await listener.address + "?" + query])
        return try await within("the status") { await client.output.next() }
    }

    @BrokerActor @Test func anotherStateIsSaidWhenTheTimeIsOver() async throws {
        let listener = try listener()
        let code = Task { try await listener.code() }
        #expect(try await status(listener, "code=x&state=wrong") == "400")
        #expect(try await status(listener, "code=x&state=righ") == "400")
        #expect(try await status(listener, "error=access_denied&state=wrong") == "400")
        listener.expire()
        await #expect {
            _ = try await code.value
        } throws: {
            if case SignInError.foreignState = $0 { true } else { false }
        }
    }

    @BrokerActor @Test func nobodyIsSaidWhenTheTimeIsOver() async throws {
        let listener = try listener()
        listener.expire()
        await #expect {
            _ = try await listener.code()
        } throws: {
            if case SignInError.timedOut = $0 { true } else { false }
        }
    }

    @BrokerActor @Test func theRightStateEndsItOnce() async throws {
        let listener = try listener()
        let code = Task { try await listener.code() }
        #expect(try await status(listener, "code=&state=right") == "400")
        #expect(try await status(listener, "code=a&error=b&state=right") == "400")
        #expect(try await status(listener, "code=first&state=right") == "200")
        #expect(text(try await code.value) == "first")
        // The port is closed: nobody answers there any more.
        #expect(try await status(listener, "code=second&state=right") == nil)
    }
}
