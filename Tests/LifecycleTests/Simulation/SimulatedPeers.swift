import BrokerGate
import BrokerModel
import Synchronization

@testable import BrokerPeers

/// What would be read about the processes behind the connections: which program of the policy each of them is.
final class SimulatedPeers: CredentialSource, DeadlineReader {
    // Asked about and read without anybody else in between, so one place is enough.
    private let asked = Mutex("")
    private let programs = Mutex<[String: String]>([:])

    /// The connection is that program's.
    func connect(_ connection: String, _ program: String) {
        programs.withLock { $0[connection] = program }
    }

    func credentials(of connection: String) async -> ConnectionCredentials? {
        asked.withLock { $0 = connection }
        var credentials = ConnectionCredentials()
        (credentials.userID, credentials.processID) = (1000, 4711)
        return credentials
    }

    func run<R: Sendable>(
        key: UInt32, deadlineMicroseconds: UInt64, _ body: @escaping @Sendable () -> R
    ) async -> R? {
        let connection = asked.withLock { $0 }
        var facts = PeerFacts(userID: 1000, processID: 4711)
        facts.pin = .atConnect
        facts.userIsRegistered = true
        facts.inReferenceNamespaces = true
        if let program = programs.withLock({ $0[connection] }) {
            facts.executable = PeerFacts.Executable(paths: ["/usr/bin/" + program], trust: .file)
        }
        let reading = ProcessReader.Reading(facts: facts)
        return Result<ProcessReader.Reading, Doubt>.success(reading) as? R
    }
}

/// Keeps no audit line: the gate's own tests read them.
struct NoAudit: AuditSink {
    func record(_ entry: AuditEntry) {}
}

/// Does the work where it was asked for, so that no thread's pace decides what happens first.
struct InlineWorker: BlockingWorker {
    func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result { body() }
}
