internal import Foundation

/// A bus of a test's own and a broker on it, which the test may end, kill and start again. The policy gives the
/// test's own program `org.example.client`, `org.example.suite` and `org.example.small`, which holds two items, and the
/// program `TestClient` the second of them.
public final class BrokerStage: Sendable {
    /// The bus.
    public let bus: PrivateBus
    /// Everything that the broker writes.
    public let folder: TemporaryFolder
    private let daemon = Daemon()
    private let more: [String: String]

    private actor Daemon {
        var process: ChildProcess?

        func replace(by started: ChildProcess?) -> ChildProcess? {
            defer { process = started }
            return process
        }
    }

    /// Starts all and waits until the broker is ready.
    /// - Parameters:
    ///   - policy: in place of the usual one.
    ///   - more: of the broker's environment.
    public init(policy: String? = nil, environment more: [String: String] = [:]) async throws {
        self.more = more
        bus = try await PrivateBus.start()
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.entry("policy"), withIntermediateDirectories: true)
        try folder.write(policy ?? Self.policy, to: "policy/50-test.conf")
        try await startBroker()
    }

    /// Where the built programs are: beside the test runner.
    public static let build = URL(filePath: runner).deletingLastPathComponent().path(percentEncoded: false)
    /// The program that runs the tests.
    public static let runner = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .path(percentEncoded: false)

    private static var policy: String {
        """
        [Application org.chatelaine.Tests]
        Executable=\(runner)
        AccessGroups=org.example.client org.example.suite org.example.small

        [Application org.chatelaine.TestClient]
        Executable=\(build)TestClient
        AccessGroups=org.example.suite

        [Application org.chatelaine.Examples]
        Executable=\(build)LibraryExamples
        AccessGroups=org.example.mail

        [AccessGroup org.example.mail]
        RequireTrust=user

        [AccessGroup org.example.client]
        RequireTrust=user

        [AccessGroup org.example.small]
        RequireTrust=user
        MaxItems=2

        [AccessGroup org.example.suite]
        RequireTrust=user

        [Manager]
        Executable=\(runner)
        """
    }

    /// For programs on this stage.
    public var environment: [String: String] {
        [
            "DBUS_SESSION_BUS_ADDRESS": bus.address, "XDG_RUNTIME_DIR": folder.path,
            "SWIFT_BACKTRACE": "enable=no",
        ]
    }

    /// The address of the broker's direct endpoint.
    public var directAddress: String { "unix:path=" + folder.entry("direct") }

    /// Starts the broker, on the state that there is, and waits until it says that it is ready.
    public func startBroker() async throws {
        let file = folder.entry("ready-\(UUID().uuidString)")
        let ready = try RawSocket.datagrams(at: file)
        let started = try await ChildProcess.start(
            [
                Self.build + "chatelained", "--user", "--policy", folder.entry("policy"), "--state",
                folder.entry("state"), "--device-key", folder.entry("device.key"), "--socket",
                folder.entry("direct"),
            ], environment: environment.merging(more) { $1 }.merging(["NOTIFY_SOCKET": file]) { $1 },
            errors: .file(folder.entry("daemon.log")))
        _ = await daemon.replace(by: started)
        try await within("the broker to be ready") { _ = await ready.read() }
    }

    /// Ends the broker in order.
    public func endBroker() async {
        let process = await daemon.replace(by: nil)
        process?.terminate()
        _ = await process?.waitForExit()
    }

    /// Ends the broker as a crash would.
    public func killBroker() async {
        let process = await daemon.replace(by: nil)
        process?.kill()
        _ = await process?.waitForExit()
    }

    /// Starts the broker anew after a crash.
    public func crash() async throws {
        await killBroker()
        try await startBroker()
    }

    /// Stops the broker, or lets it go on.
    public func signalBroker(_ number: Int32) async {
        await daemon.process?.signal(number)
    }

    /// Starts an example of the README, whose output is read line by line.
    public func startExample(_ name: String) async throws -> ChildProcess {
        try await ChildProcess.start(
            ["stdbuf", "--output=L", Self.build + "LibraryExamples", name], environment: environment,
            errors: .file(folder.entry("examples.log")))
    }

    /// Starts `TestClient`, whose output is read line by line.
    public func startClient(_ arguments: [String]) async throws -> ChildProcess {
        try await ChildProcess.start(
            [Self.build + "TestClient"] + arguments, environment: environment,
            errors: .file(folder.entry("client.log")))
    }
}
