internal import BrokerGate
internal import BrokerHost
internal import BrokerModel
internal import SDBus

/// The daemon's log: the journal, or standard error where there is none. It takes words of ours and names
/// from the policy; there is no way to hand it a secret or an attribute.
struct Log: AuditSink {
    private let thread = WorkThread(name: "log")
    private let usesJournal = Journal.isAvailable

    /// syslog's levels that are used here.
    enum Level: Int {
        case error = 3
        case warning = 4
        case notice = 5
        case info = 6
    }

    /// Writes one line.
    func write(_ level: Level, _ text: String, _ fields: [(String, String)] = []) {
        guard usesJournal else { return StandardError.write(line: "chatelained: \(text)") }
        Journal.send(
            fields: [
                ("MESSAGE", text), ("PRIORITY", String(level.rawValue)), ("SYSLOG_IDENTIFIER", "chatelained"),
            ] + fields)
    }

    /// Writes what broke.
    func report(_ fault: Fault) { write(.error, fault.description) }

    /// Writes an audit line, on a thread of its own: a slow journal must not hold up a call.
    func record(_ entry: AuditEntry) {
        let decision = entry.isAllowed ? "allow" : "deny"
        let who = entry.application ?? "unnamed program"
        let group = entry.group?.name ?? "own groups"
        let text = "\(decision) \(entry.operation) on \(group) to \(who) (\(entry.connection))"
        let fields = [
            ("CHATELAINE_OPERATION", entry.operation), ("CHATELAINE_APPLICATION", entry.application ?? ""),
            ("CHATELAINE_GROUP", entry.group?.name ?? ""), ("CHATELAINE_DECISION", decision),
            ("CHATELAINE_TRUST", entry.trust.rawValue),
            ("CHATELAINE_PID", entry.processID.map { String($0) } ?? ""),
        ]
        let level: Level = entry.isAllowed ? .info : .notice
        thread.post { write(level, text, fields) }
    }
}
