internal import BrokerGate
internal import BrokerModel

/// How a line of the audit is written (chatelained(8), JOURNAL).
extension AuditLedger.Line {
    /// What is observed wants to be seen, and what is denied may.
    var level: Log.Level {
        switch entry.decision {
        case .allow: .info
        case .deny: .notice
        case .observe: .warning
        }
    }

    /// For a person.
    var message: String {
        let more = isFolded ? ", \(count == 1 ? "once" : "\(count) times") more" : ""
        let would = entry.decision == .observe ? "would be denied: " : ""
        let why = entry.objection.map { ": \(would)\($0.text)" } ?? ""
        return "\(entry.decision.rawValue) \(entry.operation) on \(what) to \(who) (\(whence))\(more)\(why)"
    }

    private var what: String {
        if groups > 1 { return "\(groups) groups" }
        return entry.group?.name ?? (entry.objection == .manager ? "the manager" : "its groups")
    }

    private var who: String { entry.application ?? entry.program ?? "unnamed program" }

    private var whence: String {
        if !entry.connection.isEmpty { return entry.connection }
        return entry.processID.map { "process \($0)" } ?? "user \(entry.userID)"
    }

    /// For programs: empty where there is nothing to say.
    var fields: [(String, String)] {
        [
            ("CHATELAINE_OPERATION", entry.operation), ("CHATELAINE_APPLICATION", entry.application ?? ""),
            ("CHATELAINE_PROGRAM", entry.program ?? ""), ("CHATELAINE_GROUP", entry.group?.name ?? ""),
            ("CHATELAINE_GROUPS", String(groups)), ("CHATELAINE_DECISION", entry.decision.rawValue),
            ("CHATELAINE_REASON", entry.objection?.rawValue ?? ""),
            ("CHATELAINE_TRUST", entry.trust.rawValue), ("CHATELAINE_UID", String(entry.userID)),
            ("CHATELAINE_PID", entry.processID.map { String($0) } ?? ""),
            ("CHATELAINE_CONNECTION", entry.connection), ("CHATELAINE_COUNT", String(count)),
        ]
    }
}
