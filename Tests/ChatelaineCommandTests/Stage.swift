import Foundation
import SDBus
import TestKit
import Testing

/// A bus of its own, a broker on it, and a policy that knows the built command and this test process.
final class Stage: Sendable {
    let bus: PrivateBus
    /// Everything that the broker and the command could write.
    let folder: TemporaryFolder
    private let scratch: TemporaryFolder
    let command: String
    private let daemon: ChildProcess
    private let connection: Connection

    /// Starts all and waits until the broker owns its name.
    @BrokerActor init() async throws {
        bus = try await PrivateBus.start()
        environment = Self.environment(bus)
        folder = try TemporaryFolder()
        scratch = try TemporaryFolder()
        // A copy where anybody could have put it, so that its trust does not depend on who built it where. By a
        // process of its own: a file that is open for writing here would be so in every child for a moment, and
        // could not be run.
        command = scratch.entry("chatelaine")
        let copy = try await ChildProcess.start(["cp", Self.build + "/chatelaine", command])
        #expect(await copy.waitForExit() == .exited(0))
        try FileManager.default.createDirectory(
            atPath: folder.entry("policy"), withIntermediateDirectories: true)
        try folder.write(Self.policy(command), to: "policy/50-test.conf")
        connection = try Connection.open(address: bus.address)
        let appeared = Mailbox<Void>()
        let watch = try await connection.onNameOwnerChanged(name: "org.chatelaine.Broker1") { _, _, new in
            if !new.isEmpty { appeared.post(()) }
        }
        daemon = try await ChildProcess.start(
            [
                Self.build + "/chatelained", "--user", "--policy", folder.entry("policy"), "--state",
                folder.entry("state"), "--device-key", folder.entry("device.key"), "--no-socket",
            ], environment: environment, errors: .file(scratch.entry("daemon.log")))
        try await appeared.next("the broker to own its name")
        watch.cancel()
    }

    /// Where the built programs are: beside the test runner.
    static let build = URL(filePath: runner).deletingLastPathComponent().path(percentEncoded: false)
    private static let runner = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .path(percentEncoded: false)

    private static func policy(_ command: String) -> String {
        """
        [Application org.chatelaine.Command]
        Executable=\(command)
        AccessGroups=org.example.mail org.example.suite

        [Application org.chatelaine.Tests]
        Executable=\(runner)
        AccessGroups=org.example.client org.example.suite

        [AccessGroup org.example.mail]
        RequireTrust=user

        [AccessGroup org.example.suite]
        RequireTrust=user

        [AccessGroup org.example.client]
        RequireTrust=user

        [Manager]
        Executable=\(command)
        Executable=\(runner)
        """
    }

    /// For programs on this stage: a bus, and nothing that could colour or redirect them.
    let environment: [String: String]

    private static func environment(_ bus: PrivateBus) -> [String: String] {
        [
            "DBUS_SESSION_BUS_ADDRESS": bus.address, "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent",
            "TERM": "xterm", "NO_COLOR": "", "SWIFT_BACKTRACE": "enable=no",
        ]
    }

    /// How a command ended and what it wrote.
    struct Outcome: Sendable {
        let status: ChildProcess.Status
        let output: [UInt8]
        let errors: String

        var text: String { String(decoding: output, as: UTF8.self) }
    }

    /// Runs the command to its end.
    func run(_ arguments: [String], input: String = "") async throws -> Outcome {
        let name = UUID().uuidString
        let (output, errors) = (scratch.entry("\(name).out"), scratch.entry("\(name).err"))
        let child = try await ChildProcess.start(
            [command] + arguments, environment: environment, output: .file(output), errors: .file(errors)
        )
        // A command that does not read its input may be gone before it is written.
        try? child.write(input)
        child.closeInput()
        let status = try await within("chatelaine \(arguments)") { await child.waitForExit() }
        return Outcome(
            status: status, output: Array(try Data(contentsOf: URL(filePath: output))),
            errors: try String(contentsOfFile: errors, encoding: .utf8))
    }

    /// Starts the command, whose output is read line by line.
    func start(_ arguments: [String]) async throws -> ChildProcess {
        try await ChildProcess.start(
            [command] + arguments, environment: environment, errors: .file(scratch.entry("started.err")))
    }

    /// Calls the broker on the connection that was there before it; returns its name.
    @BrokerActor func callFromOlderConnection() async throws -> String? {
        _ = try await connection.call(
            "org.chatelaine.Broker1", path: "/org/chatelaine/Broker1",
            interface: "org.chatelaine.Broker1.Manager", member: "ListGroups",
            timeoutMicroseconds: TestLoop.patienceMicroseconds)
        return connection.uniqueName
    }

    /// Ends the broker.
    func endBroker() async {
        daemon.terminate()
        _ = await daemon.waitForExit()
    }

    /// Whether any file of the broker holds the text.
    func isStored(_ text: String) -> Bool {
        let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return files.contains { file in
            let data = FileManager.default.contents(atPath: folder.entry(file))
            return data?.range(of: Data(text.utf8)) != nil
        }
    }
}
