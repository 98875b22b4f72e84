public import BrokerModel
public import SDBus

extension WorkThread: BlockingWorker {}

/// Reads about peers on fresh threads.
struct PeerThreads: DeadlineReader {
    private let threads = DeadlineThreads(limitPerKey: Limits.peerLookupsPerUserMax)

    func run<R: Sendable>(
        key: UInt32, deadlineMicroseconds: UInt64, _ body: @escaping @Sendable () -> R
    ) async -> R? {
        await threads.run(key: key, deadlineMicroseconds: deadlineMicroseconds, body)
    }
}
