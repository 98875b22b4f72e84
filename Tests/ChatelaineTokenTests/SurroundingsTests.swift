import ChatelaineHTTP
import Foundation
import TestKit
import Testing

/// What the environment of a program can do to its sign-ins and requests.
@Suite struct SurroundingsTests {
    init() { TestLoop.start() }

    private static let address = "https://example.com/?a=b&c=$(touch%20x)';%20exit"

    private static let plainAddress = "https://example.com/"

    // By a process of its own: a file that is open for writing here would be so in every child for a moment, and
    // could not be run.
    private func folder(_ script: String) async throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let source = try folder.write(script, to: "script")
        let copy = try await ChildProcess.start(["install", "-m", "700", source, folder.entry("xdg-open")])
        #expect(await copy.waitForExit() == .exited(0))
        return folder
    }

    private func browse(_ path: String) async throws -> String? {
        let client = try await ChildProcess.start(
            [BrokerStage.build + "TokenClient", "browse", Self.address], environment: ["PATH": path])
        return try await within("the client") { await client.output.next() }
    }

    @Test func theBrowserGetsTheAddressAsOneArgumentAndNoShell() async throws {
        let folder = try await folder("#!/bin/sh\nprintf '%s\\n' \"$#\" \"$1\" >\"${0%/*}/arguments\"\n")
        #expect(try await browse(folder.path) == "opened")
        let arguments = try String(contentsOfFile: folder.entry("arguments"), encoding: .utf8)
        #expect(arguments == "1\n\(Self.address)\n")
    }

    @Test func aBrowserThatFailsOrIsNotThereIsSaid() async throws {
        let failing = try await folder("#!/bin/sh\nexit 3\n")
        #expect(try await browse(failing.path) == "No web browser could be opened.")
        #expect(try await browse(try TemporaryFolder().path) == "No web browser could be opened.")
    }

    /// A program that has no vault yet and talks to no broker.
    @Test func aSignInMayBeTheFirstThing() async throws {
        let empty = try TemporaryFolder()
        let client = try await ChildProcess.start(
            [BrokerStage.build + "TokenClient", "sign-in", Self.plainAddress],
            environment: ["PATH": empty.path])
        let line = try await within("the client") { await client.output.next() }
        #expect(line == "No web browser could be opened.")
    }

    /// The README's example, with a browser that `xdg-open` finds.
    @Test func theExampleSignsInAndRuns() async throws {
        let (stage, server) = (try await TokenStage(), try await TokenServer())
        let browser = TokenServer.file("fake_browser.py")
        let folder = try await folder("#!/bin/sh\nexec /usr/bin/python3 '\(browser)' \"$1\"\n")
        let run = {
            let example = try await ChildProcess.start(
                [BrokerStage.build + "LibraryExamples", "session", server.origin],
                environment: ["DBUS_SESSION_BUS_ADDRESS": stage.bus.address, "PATH": folder.path])
            let text = try await within("the example's end") { await example.output.rest() }
            #expect(await example.waitForExit() == .exited(0))
            return text.split(separator: "\n").map(String.init)
        }
        #expect(try await run() == ["signed in", "revision 1 is good"])
        #expect(try await run() == ["a Bearer token of 3 bytes", "revision 1 is good"])
        #expect(await server.end().count == 2)
    }

    /// Nothing listens at the proxy's port, so a request that went there would fail.
    @Test func aProxyIsNotAskedForThisMachine() async throws {
        let (stage, server) = (try await TokenStage(), try await TokenServer())
        let before = try await stage.store("AT0", "RT0", endingIn: -1)
        let proxy = "http://127.0.0.1:9"
        let client = try await stage.startClient(
            server.address("/token/rotate/300").text,
            environment: ["http_proxy": proxy, "all_proxy": proxy, "ALL_PROXY": proxy])
        try client.write("go\n")
        #expect(
            try await within("a token") { await client.output.next() } == "token of revision \(before + 1)")
        #expect(await server.end() == ["refresh_token RT0 app"])
    }
}
