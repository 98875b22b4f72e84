internal import BrokerGate
internal import SDBus

/// Gathers audit lines for a moment, so that a read costs an append and the log's thread wakes once for many.
///
/// A caller that does one thing over and over fills no journal: of equal lines in one moment the first few are
/// written each by itself, and the rest as one with their number, so that none goes uncounted.
@BrokerActor final class AuditBuffer: Sendable {
    private var entries: [AuditEntry] = []
    private var timer: Timer?
    private let write: @Sendable ([(entry: AuditEntry, count: Int)]) -> Void

    private static let delayMicroseconds: UInt64 = 50_000
    private static let entriesMax = 8192
    private static let singlesMax = 16

    /// `write` is called on the loop and must not block it.
    nonisolated init(write: @escaping @Sendable ([(entry: AuditEntry, count: Int)]) -> Void) {
        self.write = write
    }

    func append(_ entry: AuditEntry) {
        entries.append(entry)
        if entries.count >= Self.entriesMax { return flush() }
        guard timer == nil else { return }
        let loop = BrokerActor.shared.loop
        timer = loop.timer(at: loop.now() + Self.delayMicroseconds) { [weak self] in self?.flush() }
    }

    /// Hands over what is gathered, also before the process ends.
    func flush() {
        timer = nil
        guard !entries.isEmpty else { return }
        let gathered = entries
        entries.removeAll(keepingCapacity: true)
        write(Self.condense(gathered))
    }

    private static func condense(_ entries: [AuditEntry]) -> [(entry: AuditEntry, count: Int)] {
        var lines: [(entry: AuditEntry, count: Int)] = []
        var seen: [AuditEntry: Int] = [:]
        for entry in entries {
            let count = seen[entry, default: 0]
            seen[entry] = count + 1
            if count < singlesMax { lines.append((entry, 1)) }
        }
        for (entry, count) in seen where count > singlesMax { lines.append((entry, count - singlesMax)) }
        return lines
    }
}
