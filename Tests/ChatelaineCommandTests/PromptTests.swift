import Glibc
import TestKit
import Testing

@Suite struct PromptTests {
    init() { TestLoop.start() }

    @Test func whatIsTypedIsNotShown() async throws {
        let stage = try await Stage()
        let terminal = try Terminal()
        let child = try await start("set --service web", on: terminal, of: stage)
        #expect(try await terminal.read(until: "Secret: ") == "Secret: ")
        #expect(!terminal.hasEcho)
        terminal.type("hunter2\n")
        #expect(try await terminal.read(until: "again: ") == "\r\nSecret again: ")
        terminal.type("hunter2\n")
        #expect(try await rest(child).hasPrefix("Reference  "))
        #expect(try await ended(child) == .exited(0))
        #expect(terminal.hasEcho)
        #expect(try await stage.run(["get", "--service", "web"]).text == "hunter2")
    }

    @Test func twoThatDifferChangeNothing() async throws {
        let stage = try await Stage()
        let terminal = try Terminal()
        let child = try await start("passcode set", on: terminal, of: stage)
        _ = try await terminal.read(until: "New passcode: ")
        terminal.type("one\n")
        _ = try await terminal.read(until: "again: ")
        terminal.type("two\n")
        _ = try await terminal.read(until: "the two are not the same; nothing was changed")
        #expect(try await ended(child) == .exited(2))
        #expect(try await stage.run(["--json", "status"]).text.contains(#""PasscodeSet":false"#))
    }

    @Test func theEndOfInputIsNoEmptyPasscode() async throws {
        let stage = try await Stage()
        let terminal = try Terminal()
        let child = try await start("passcode set", on: terminal, of: stage)
        _ = try await terminal.read(until: "New passcode: ")
        terminal.type("\u{4}")
        _ = try await terminal.read(until: "nothing was typed; nothing was changed")
        #expect(try await ended(child) == .exited(2))
        #expect(terminal.hasEcho)
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    func aSignalEndsThePromptAndTheEchoComesBack(signal: Int32) async throws {
        let stage = try await Stage()
        let terminal = try Terminal()
        let child = try await start("set --service web", on: terminal, of: stage)
        _ = try await terminal.read(until: "Secret: ")
        #expect(!terminal.hasEcho)
        child.signal(signal)
        #expect(try await ended(child) == .signalled(signal))
        #expect(terminal.hasEcho)
        #expect(try await stage.run(["get", "--service", "web"]).status == .exited(1))
    }

    @Test func aStoppedPromptLeavesTheTerminalAloneAndAsksAnew() async throws {
        let stage = try await Stage()
        let terminal = try Terminal()
        let child = try await start("set --service web", on: terminal, of: stage)
        _ = try await terminal.read(until: "Secret: ")
        child.signal(SIGTSTP)
        // Before that nothing would make it go on.
        try await waitUntil("the prompt to be stopped") { child.isStopped }
        #expect(terminal.hasEcho)
        child.signal(SIGCONT)
        _ = try await terminal.read(until: "Secret: ")
        try await waitUntil("the echo to be off") { !terminal.hasEcho }
        terminal.type("one\n")
        _ = try await terminal.read(until: "again: ")
        terminal.type("one\n")
        #expect(try await ended(child) == .exited(0))
        #expect(try await stage.run(["get", "--service", "web"]).text == "one")
    }

    @Test func aPasscodeIsAskedForOnlyWhereItIsWanted() async throws {
        let stage = try await Stage()
        let terminal = try Terminal()
        let child = try await start("unlock", on: terminal, of: stage)
        let screen = try await terminal.read(until: "-25291")
        #expect(!screen.contains("Passcode: "))
        #expect(try await ended(child) == .exited(5))
    }

    // The shell opens the terminal and becomes the command.
    private func start(
        _ line: String, on terminal: Terminal, of stage: Stage
    ) async throws -> ChildProcess {
        try await ChildProcess.start(
            ["sh", "-c", "exec \"$0\" \(line) <\(terminal.path) 2>\(terminal.path)", stage.command],
            environment: stage.environment)
    }
}
