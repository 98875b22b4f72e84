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
        if let group = entry.group { return group.name }
        switch entry.objection {
        case .manager: return "the manager"
        case .identity: return "everything"
        default: return "its groups"
        }
    }

    private var who: String { entry.application ?? entry.program ?? "unnamed program" }

    private var whence: String {
        if !entry.connection.isEmpty { return entry.connection }
        if let process = entry.processID { return "process \(process)" }
        return entry.userID.map { "user \($0)" } ?? "several"
    }

    /// For programs: empty where there is nothing to say.
    var fields: [(String, String)] {
        [
            ("CHATELAINE_OPERATION", entry.operation), ("CHATELAINE_APPLICATION", entry.application ?? ""),
            ("CHATELAINE_PROGRAM", entry.program ?? ""), ("CHATELAINE_GROUP", entry.group?.name ?? ""),
            ("CHATELAINE_GROUPS", String(groups)), ("CHATELAINE_DECISION", entry.decision.rawValue),
            ("CHATELAINE_REASON", entry.objection?.rawValue ?? ""),
            ("CHATELAINE_TRUST", entry.trust.rawValue),
            ("CHATELAINE_UID", entry.userID.map { String($0) } ?? ""),
            ("CHATELAINE_PID", entry.processID.map { String($0) } ?? ""),
            ("CHATELAINE_CONNECTION", entry.connection), ("CHATELAINE_COUNT", String(count)),
        ]
    }
}
