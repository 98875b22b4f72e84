internal import BrokerModel
internal import BrokerPeers

/// Writes down what is decided about one caller.
final class Witness: Sendable {
    /// What all lines about the caller have in common.
    private let caller: AuditEntry
    private let audit: any AuditSink

    init(of caller: Caller, _ entitlements: Entitlements, _ audit: any AuditSink) {
        self.audit = audit
        self.caller = AuditEntry(
            operation: "", application: entitlements.application, program: caller.facts.shownProgram,
            decision: .deny, trust: entitlements.trust, connection: caller.connection,
            processID: caller.facts.processID, userID: caller.facts.userID)
    }

    func record(
        _ operation: String, _ group: AccessGroup?, _ decision: AuditEntry.Decision, _ objection: Objection?
    ) {
        var entry = caller
        entry.operation = operation
        entry.group = group
        entry.decision = decision
        entry.objection = objection
        audit.record(entry)
    }

    func record(
        _ operations: [Operation], _ group: AccessGroup?, _ decision: AuditEntry.Decision,
        _ objection: Objection
    ) {
        record(operations.map(\.rawValue).joined(separator: "+"), group, decision, objection)
    }
}

extension PeerFacts {
    /// What the caller runs, for people to read: its sandbox's id, or its program's path. A path is text of the
    /// user's choosing, so whatever could break a line or steer a terminal is left out, and it is cut.
    var shownProgram: String? {
        guard let text = flatpak?.id ?? snap ?? executable?.paths.first else { return nil }
        let bytes = text.utf8.prefix(Self.shownBytesMax).map { (0x20...0x7e).contains($0) ? $0 : 0x3f }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static var shownBytesMax: Int { 255 }
}
