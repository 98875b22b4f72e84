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
            thread.post { for line in lines { destination.write(line.entry, count: line.count) } }
        }
    }

    /// Writes one line.
    func write(_ level: Level, _ text: String) { destination.write(level, text, []) }

    /// Writes what broke.
    func report(_ fault: Fault) { write(.error, fault.description) }

    /// Takes an audit line, on the broker's actor; a thread of the log's own writes it.
    func record(_ entry: AuditEntry) { BrokerActor.assumeIsolated { buffer.append(entry) } }

    /// Writes what was gathered, before the process ends.
    @BrokerActor func drain() async {
        buffer.flush()
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
            guard usesJournal else { return StandardError.write(line: "chatelained: \(text)") }
            Journal.send(
                fields: [
                    ("MESSAGE", text), ("PRIORITY", String(level.rawValue)),
                    ("SYSLOG_IDENTIFIER", "chatelained"),
                ] + fields)
        }

        func write(_ entry: AuditEntry, count: Int) {
            let decision = entry.isAllowed ? "allow" : "deny"
            let who = entry.application ?? "unnamed program"
            let group = entry.group?.name ?? "its groups"
            let more = count == 1 ? "" : ", \(count) times more"
            let text = "\(decision) \(entry.operation) on \(group) to \(who) (\(entry.connection))\(more)"
            write(
                entry.isAllowed ? .info : .notice, text,
                [
                    ("CHATELAINE_OPERATION", entry.operation),
                    ("CHATELAINE_APPLICATION", entry.application ?? ""),
                    ("CHATELAINE_GROUP", entry.group?.name ?? ""), ("CHATELAINE_DECISION", decision),
                    ("CHATELAINE_TRUST", entry.trust.rawValue),
                    ("CHATELAINE_PID", entry.processID.map { String($0) } ?? ""),
                    ("CHATELAINE_COUNT", String(count)),
                ])
        }
    }
}
