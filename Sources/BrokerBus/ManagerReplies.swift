internal import BrokerModel
internal import SDBus

/// A client in `ListClients`.
struct ClientReply: BusEncodable {
    let record: ClientRecord

    static var signature: String { "a{sv}" }

    func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.open("a", "{sv}")
        try writer.entry("Connection", record.connection)
        try writer.entry("ProcessID", record.processID)
        try writer.entry("Application", record.entitlements.application ?? "")
        try writer.entry("Trust", record.entitlements.trust.rawValue)
        try writer.entry("AccessGroups", record.entitlements.groups.map(\.name))
        try writer.entry("Role", record.entitlements.role.rawValue)
        try writer.entry("Subscribed", record.subscribed.map(\.name))
        try writer.entry("PendingLogouts", record.pendingLogouts)
        try writer.close()
    }
}

/// The answer of `Explain`.
struct ExplainReply: BusEncodable {
    let record: ExplainRecord

    static var signature: String { "a{sv}" }

    func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.open("a", "{sv}")
        try writer.entry("Application", record.application)
        try writer.entry("Trust", record.trust.rawValue)
        try writer.entry("Decision", record.isAllowed ? "allow" : "deny")
        try writer.entry("Reasons", record.reasons)
        try writer.entry("Policy", record.policy)
        try writer.close()
    }
}

/// A group in `ListGroups`: `(suu)`.
struct GroupReply: BusEncodable {
    let record: GroupRecord

    static var signature: String { "(suu)" }

    func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.open("r", "suu")
        try writer.append(record.group.name)
        try writer.append(record.background)
        try writer.append(record.foreground)
        try writer.close()
    }
}

/// The answer of `Check`.
struct CheckReply: BusEncodable {
    let report: CheckReport

    static var signature: String { "a{sv}" }

    func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.open("a", "{sv}")
        try writer.entry("BackgroundRows", report.rows[.background] ?? 0)
        try writer.entry("BackgroundDamaged", report.damaged[.background] ?? 0)
        try writer.entry("ForegroundRows", report.rows[.foreground] ?? 0)
        try writer.entry("ForegroundDamaged", report.damaged[.foreground] ?? 0)
        try writer.entry("ForegroundChecked", report.isForegroundOpen)
        try writer.close()
    }
}
