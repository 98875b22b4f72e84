import BrokerModel
import Foundation
import Glibc
import Synchronization

@testable import BrokerPeers

/// Where a daemon's state would live.
@globalActor actor TestActor {
    static let shared = TestActor()
}

/// A bus that knows the connections it was given.
final class FixedSource: CredentialSource {
    private let known: [String: @Sendable () -> ConnectionCredentials]
    private let gate: Gate?
    private let count = Atomic<Int>(0)

    /// `gate` holds every answer back until it opens.
    init(_ known: [String: @Sendable () -> ConnectionCredentials], gate: Gate? = nil) {
        self.known = known
        self.gate = gate
    }

    var asked: Int { count.load(ordering: .sequentiallyConsistent) }

    func credentials(of connection: String) async -> ConnectionCredentials? {
        count.add(1, ordering: .sequentiallyConsistent)
        await gate?.wait()
        return known[connection]?()
    }
}

actor Gate {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func wait() async {
        if isOpen { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    func open() {
        isOpen = true
        for waiter in waiting { waiter.resume() }
        waiting = []
    }
}

/// A fresh thread for each reading, with no deadline. `prepare` runs on it first.
struct ThreadReader: DeadlineReader {
    var prepare: @Sendable () -> Void = {}

    func run<R: Sendable>(
        key: UInt32, deadlineMicroseconds: UInt64, _ body: @escaping @Sendable () -> R
    ) async -> R? {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                prepare()
                continuation.resume(returning: body())
            }
        }
    }
}

/// Its deadline passes at once; the reading goes on when `release` opens.
struct LateReader: DeadlineReader {
    let release: Gate
    let done: Gate

    func run<R: Sendable>(
        key: UInt32, deadlineMicroseconds: UInt64, _ body: @escaping @Sendable () -> R
    ) async -> R? {
        Task.detached {
            await release.wait()
            _ = body()
            await done.open()
        }
        return nil
    }
}

/// The user has too many look-ups under way. Remembers what it was asked with.
final class RefusingReader: DeadlineReader {
    let asked = Mutex<(key: UInt32, deadlineMicroseconds: UInt64)?>(nil)

    func run<R: Sendable>(
        key: UInt32, deadlineMicroseconds: UInt64, _ body: @escaping @Sendable () -> R
    ) async -> R? {
        asked.withLock { $0 = (key, deadlineMicroseconds) }
        return nil
    }
}
