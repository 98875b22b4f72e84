public import BrokerModel
public import SDBus

/// How many calls of each connection wait for their answer.
@BrokerActor public final class WaitingCalls {
    private var counts: [String: Int] = [:]

    /// None yet.
    public init() {}

    /// `QuotaExceeded` when the connection has as many as it may have.
    public func checkRoom(for connection: String) throws(Refusal) {
        guard counts[connection, default: 0] < Limits.waitingCallsPerConnectionMax else {
            throw Refusal(
                .quotaExceeded, "This connection has 512 calls waiting; await replies before sending more.")
        }
    }

    /// A call waits.
    public func begin(_ connection: String) { counts[connection, default: 0] += 1 }

    /// It was answered.
    public func end(_ connection: String) {
        let left = counts[connection, default: 1] - 1
        counts[connection] = left > 0 ? left : nil
    }
}
