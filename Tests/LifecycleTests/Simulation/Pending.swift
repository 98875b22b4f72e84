import BrokerModel
import SDBus

/// Why a virtual process has no answer.
enum CallFailure: Error {
    /// The process was killed.
    case killed
    /// The broker ended before it answered.
    case brokerGone
    /// The server gave no answer, as often as it was asked.
    case unreachable
    /// The server said that the grant is dead.
    case signInNeeded
    /// The broker refused.
    case refused(Refusal)

    /// Whether asking again soon may do.
    var isPassing: Bool {
        switch self {
        case .brokerGone, .unreachable: true
        case .refused(let refusal): refusal.kind == .busy
        case .killed, .signInNeeded: false
        }
    }

    var refusal: Refusal.Kind? {
        if case .refused(let refusal) = self { refusal.kind } else { nil }
    }
}

/// A call that has no answer yet; whoever ends it first decides what it gives.
@BrokerActor protocol Endable: AnyObject {
    func end(_ failure: CallFailure)
}

@BrokerActor final class Pending<Value>: Endable {
    private var continuation: CheckedContinuation<Void, Never>?
    private var result: Result<Value, CallFailure>?

    /// Waits for the answer.
    func value() async throws(CallFailure) -> Value {
        if result == nil { await withCheckedContinuation { continuation = $0 } }
        guard let result else { throw .killed }
        return try result.get()
    }

    func end(_ failure: CallFailure) { finish(.failure(failure)) }

    func finish(_ result: Result<Value, CallFailure>) {
        guard self.result == nil else { return }
        self.result = result
        continuation?.resume()
    }
}
