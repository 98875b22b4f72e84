import ExampleAuthority
import SDBus

extension Scene {
    /// What comes out differently where anything does.
    var fingerprint: [UInt64] {
        network.authority.exchanges.flatMap { [$0.time, UInt64($0.family), UInt64($0.generation)] }
    }

    /// For a person, and enough to play it again.
    func report(seed: UInt64) -> String {
        let authority = network.authority
        var lines = [
            "seed \(seed): \(ledger.refreshes) refreshes in \(time.monotonic / 3_600_000_000) hours,"
                + " each of a token that had expired, and of none more than one",
            "server: \(authority.count(.rotated)) rotated, \(authority.count(.repeated)) repeated in the grace time,"
                + " \(authority.count(.reused)) used twice, \(authority.revokedCount) families revoked",
            "refreshed twice: \(ledger.doubles)",
            "lost to a holder that was killed, past the grace time: \(ledger.losses[.kill, default: []].count);"
                + " to anything else: \(ledger.losses[.network, default: []].count)",
        ]
        lines += ledger.counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        lines += ledger.problems.prefix(5).map { "PROBLEM: \($0)" }
        return lines.joined(separator: "\n")
    }
}
