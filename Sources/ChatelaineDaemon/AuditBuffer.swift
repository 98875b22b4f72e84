internal import BrokerGate
internal import SDBus

/// Gathers audit lines for a moment, so that a read costs an append and the log's thread wakes once for many. Who
/// gets lines of its own, and who only a number, is the ledger's to say.
@BrokerActor final class AuditBuffer: Sendable {
    private var ledger = AuditLedger()
    private var lines: [AuditLedger.Line] = []
    private var flushTimer: Timer?
    private var windowTimer: Timer?
    private let write: @Sendable ([AuditLedger.Line]) -> Void

    private static let delayMicroseconds: UInt64 = 50_000

    /// `write` is called on the loop and must not block it.
    nonisolated init(write: @escaping @Sendable ([AuditLedger.Line]) -> Void) {
        self.write = write
    }

    func append(_ entry: AuditEntry) {
        let loop = BrokerActor.shared.loop
        let now = loop.now()
        lines += ledger.take(entry, at: now)
        if windowTimer == nil, let end = ledger.endMicroseconds {
            windowTimer = loop.timer(at: end) { [weak self] in self?.endWindow() }
        }
        guard flushTimer == nil, !lines.isEmpty else { return }
        flushTimer = loop.timer(at: now + Self.delayMicroseconds) { [weak self] in self?.flush() }
    }

    /// Hands over all that there is, before the process ends.
    func drain() { endWindow() }

    private func endWindow() {
        windowTimer = nil
        lines += ledger.endWindow()
        flush()
    }

    private func flush() {
        flushTimer = nil
        guard !lines.isEmpty else { return }
        write(lines)
        lines = []
    }
}
