import BrokerGate
import BrokerModel
@_spi(Testing) import BrokerPeers
import BrokerPolicy
import Synchronization
import Testing

/// Keeps what it is given.
final class Ledger: AuditSink {
    private let kept = Mutex<[AuditEntry]>([])

    func record(_ entry: AuditEntry) { kept.withLock { $0.append(entry) } }

    var entries: [AuditEntry] { kept.withLock { $0 } }
}

func policy(_ text: String) throws -> Policy {
    let environment = PolicyEnvironment(isSystem: false, group: { _ in nil }, user: { _ in nil })
    let file = PolicyFile(path: "policy.conf", contents: Array(text.utf8), origin: .system)
    do {
        return try Policy.load([file], environment: environment).0
    } catch {
        Issue.record("\(error)")
        throw error
    }
}

func caller(
    _ program: String, connection: String = ":1.7", namespaces: Bool? = true, userID: UInt32 = 1000,
    trust: Trust = .file, flatpak: String? = nil
) -> Caller {
    var facts = PeerFacts(userID: userID, processID: 4711)
    facts.inReferenceNamespaces = namespaces
    facts.flatpak = flatpak.map { .init(id: $0, trust: .file) }
    // A program that has a file has a private group by that.
    if program != "stranger" { facts.executable = .init(paths: ["/usr/bin/" + program], trust: trust) }
    return Caller(connection: connection, facts: facts)
}

func refusal(_ body: () throws(Refusal) -> Void) -> Refusal.Kind? {
    do throws(Refusal) {
        try body()
        return nil
    } catch {
        return error.kind
    }
}
