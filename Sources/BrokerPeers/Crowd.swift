import BrokerModel

/// How many connections each user, process and program has here, and whether there is room for one more.
///
/// A process is counted before it is looked at, so that many connections of one cost little and keep nobody else's
/// look-up waiting; a program can be known only after that.
struct Crowd {
    private var counts: [Key: Int] = [:]
    private var places: [String: [Key]] = [:]

    /// What has a number of places.
    enum Key: Hashable {
        case user(UInt32)
        /// Processes that nobody names are as one.
        case process(UInt32?, userID: UInt32)
        /// Programs of which there is no evidence are as one.
        case program(String, userID: UInt32)

        init(programOf facts: PeerFacts) {
            // An id that anybody can take must not use up the places of the one whose it is.
            let flatpak = facts.flatpak.map { "\($0.trust.rawValue) flatpak \($0.id)" }
            let sandbox = flatpak ?? facts.snap.map { "snap \($0)" }
            let name = sandbox ?? facts.executable?.paths.first ?? ""
            self = .program(name, userID: facts.userID)
        }

        fileprivate var full: Refusal {
            switch self {
            case .user:
                Refusal(.quotaExceeded, "This user has 2,048 connections to the broker; close some first.")
            case .process, .program:
                Refusal(
                    .quotaExceeded,
                    "This program has 128 connections to the broker; close some, or call over fewer.")
            }
        }

        fileprivate var countMax: Int {
            switch self {
            case .user: Limits.connectionsPerUserMax
            case .process, .program: Limits.connectionsPerProgramMax
            }
        }
    }

    /// Nil where each of them has room for one more.
    func refusal(_ keys: [Key]) -> Refusal? {
        keys.first { counts[$0, default: 0] >= $0.countMax }?.full
    }

    /// Counts the connection among each of them.
    mutating func enter(_ connection: String, _ keys: [Key]) {
        for key in keys { counts[key, default: 0] += 1 }
        places[connection] = keys
    }

    /// Its places are free; they are returned.
    @discardableResult mutating func leave(_ connection: String) -> [Key] {
        let keys = places.removeValue(forKey: connection) ?? []
        for key in keys {
            let left = counts[key, default: 1] - 1
            counts[key] = left > 0 ? left : nil
        }
        return keys
    }
}
