internal import BrokerGate
internal import BrokerHost
internal import BrokerModel
internal import SDBus

/// The daemon's log: the journal, or standard error where there is none. It takes words of ours and names
/// from the policy; there is no way to hand it a secret or an attribute.
struct Log: AuditSink {
    private let thread = WorkThread(name: "log")
    private let buffer: AuditBuffer
    private let destination = Destination()

    init() {
        let (thread, destination) = (thread, destination)
        buffer = AuditBuffer { lines in
            thread.post { for line in lines { destination.write(line.level, line.message, line.fields) } }
        }
    }

    /// Writes one line.
    func write(_ level: Level, _ text: String) { destination.write(level, text, []) }

    /// Writes what broke.
    func report(_ fault: Fault) { write(.error, fault.description) }

    /// Takes an audit line, on the broker's actor; a thread of the log's own writes it.
    func record(_ entry: AuditEntry) { BrokerActor.assumeIsolated { buffer.append(entry) } }

    /// Takes the line of a connection that could not be identified. An administrator's look at a process
    /// (`pid:N`) is no call.
    func recordUnidentified(_ connection: String) {
        if !connection.hasPrefix("pid:") { record(.unidentified(connection)) }
    }

    /// Writes what was gathered, before the process ends.
    @BrokerActor func drain() async {
        buffer.drain()
        await thread.run {}
    }

    /// syslog's levels that are used here.
    enum Level: Int {
        case error = 3
        case warning = 4
        case notice = 5
        case info = 6
    }

    /// The journal, or standard error.
    private struct Destination: Sendable {
        private let usesJournal = Journal.isAvailable

        func write(_ level: Level, _ text: String, _ fields: [(String, String)]) {
            let own = [
                ("MESSAGE", text), ("PRIORITY", String(level.rawValue)), ("SYSLOG_IDENTIFIER", "chatelained"),
            ]
            if usesJournal && Journal.send(fields: own + fields) { return }
            StandardError.write(line: "chatelained: \(text)")
        }
    }
}
