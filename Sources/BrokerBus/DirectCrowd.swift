internal import BrokerModel
internal import SDBus

/// How many connections of the direct endpoint each user and each process has, and whether one more is let in.
@BrokerActor struct DirectCrowd {
    private var users: [UInt32: [String: DirectPeer]] = [:]
    private var processes: [Process: Int] = [:]
    private var complainedMicroseconds: UInt64?

    /// A full house is said once in this time, however hard somebody knocks.
    private static let complaintPauseMicroseconds: UInt64 = 10_000_000

    /// Processes that are out of sight are as one.
    private struct Process: Hashable {
        let userID: UInt32
        let processID: UInt32?

        init(_ credentials: SocketCredentials) {
            (userID, processID) = (credentials.userID, credentials.processID)
        }
    }

    /// What becomes of one more.
    enum Admission {
        case welcome
        /// It gets the place of one that was never identified.
        case instead(String)
        case full
    }

    func admission(of credentials: SocketCredentials, isKnown: (String) -> Bool) -> Admission {
        guard processes[Process(credentials), default: 0] < Limits.directConnectionsPerProcessMax else {
            return .full
        }
        let peers = users[credentials.userID] ?? [:]
        guard peers.count >= Limits.directConnectionsPerUserMax else { return .welcome }
        // The oldest of those that have not called, or were refused for their program's number: numbers grow with time.
        let silent = peers.values.filter { !isKnown($0.name) }.min { $0.number < $1.number }
        return silent.map { .instead($0.name) } ?? .full
    }

    /// A line for the log; nil when the last one is not long ago.
    mutating func complaint(_ credentials: SocketCredentials, at time: UInt64) -> String? {
        if let last = complainedMicroseconds, time < last + Self.complaintPauseMicroseconds { return nil }
        complainedMicroseconds = time
        let process = credentials.processID.map { String($0) } ?? "unknown"
        return "user \(credentials.userID), process \(process): too many direct connections, more are refused"
    }

    mutating func add(_ peer: DirectPeer) {
        users[peer.credentials.userID, default: [:]][peer.name] = peer
        processes[Process(peer.credentials), default: 0] += 1
    }

    mutating func remove(_ peer: DirectPeer) {
        let (userID, process) = (peer.credentials.userID, Process(peer.credentials))
        users[userID]?[peer.name] = nil
        if users[userID]?.isEmpty == true { users[userID] = nil }
        let left = processes[process, default: 1] - 1
        processes[process] = left > 0 ? left : nil
    }
}
