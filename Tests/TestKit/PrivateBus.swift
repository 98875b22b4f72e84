/// A message bus of a test's own, with a session bus's freedom and limits and nothing to activate.
public final class PrivateBus: Sendable {
    /// Where it listens.
    public let address: String
    private let folder: TemporaryFolder
    private let daemon = Daemon()

    private actor Daemon {
        var process: ChildProcess?

        func set(_ started: ChildProcess) { process = started }
    }

    /// Starts it and waits until it listens. It is killed when the object goes.
    public static func start() async throws -> PrivateBus {
        let folder = try TemporaryFolder()
        try folder.write(configuration(listen: folder.entry("bus")), to: "bus.conf")
        let bus = PrivateBus(address: "unix:path=" + folder.entry("bus"), folder: folder)
        try await bus.restart()
        return bus
    }

    private init(address: String, folder: TemporaryFolder) {
        self.address = address
        self.folder = folder
    }

    /// Starts it where it was, after a kill, and waits until it listens.
    public func restart() async throws {
        let started = try await ChildProcess.start([
            "dbus-daemon", "--nofork", "--nopidfile", "--config-file=\(folder.entry("bus.conf"))",
            "--print-address=1",
        ])
        await daemon.set(started)
        let listens = try await within("the bus daemon's address") { await started.output.next() }
        if listens == nil { throw TestFailure("the bus daemon ended: \(await started.waitForExit())") }
    }

    /// Takes the bus away from under its clients.
    public func kill() async {
        let process = await daemon.process
        process?.kill()
        _ = await process?.waitForExit()
    }

    private static func configuration(listen path: String) -> String {
        let limits = [
            "max_incoming_bytes": 1_000_000_000, "max_outgoing_bytes": 1_000_000_000,
            "max_message_size": 1_000_000_000, "max_completed_connections": 100_000,
            "max_incomplete_connections": 10_000, "max_connections_per_user": 100_000,
            "max_names_per_connection": 50_000, "max_match_rules_per_connection": 50_000,
            "max_replies_per_connection": 50_000,
        ]
        let lines = limits.map { "<limit name=\"\($0)\">\($1)</limit>" }.joined(separator: "\n")
        return """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
            <type>session</type>
            <listen>unix:path=\(path)</listen>
            <auth>EXTERNAL</auth>
            <policy context="default">
            <allow send_destination="*" eavesdrop="true"/>
            <allow eavesdrop="true"/>
            <allow own="*"/>
            </policy>
            \(lines)
            </busconfig>
            """
    }
}
