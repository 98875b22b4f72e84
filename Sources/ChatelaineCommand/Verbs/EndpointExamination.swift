internal import BrokerHost
internal import Chatelaine
internal import SDBus

/// What the doctor sees of the ways to the broker: its socket, and connections that were there before it.
@BrokerActor enum EndpointExamination {
    /// The direct endpoint's socket, and whether it is the broker's.
    static func socket(_ endpoint: Endpoint, owners: Set<UInt32>) -> Finding {
        let subject = "direct endpoint"
        let folder = endpoint == .system ? "/run" : HostEnvironment.variable("XDG_RUNTIME_DIR")
        guard let path = folder.map({ $0 + "/chatelaine/bus" }) else {
            return Finding(subject, .absent, "XDG_RUNTIME_DIR is not set; the bus alone leads to the broker")
        }
        guard let status = HostStatus(path) else {
            return Finding(subject, .absent, "there is no \(path); the bus alone leads to the broker")
        }
        guard status.isSocket, owners.contains(status.ownerID) else {
            let what = status.isSocket ? "is a socket of user \(status.ownerID)" : "is no socket"
            return Finding(
                subject, .wrong, "\(path) \(what), and not the broker's",
                advice: "Find out who made it; remove it, and start the broker again.")
        }
        return Finding(subject, .good, "\(path), of user \(status.ownerID)")
    }

    /// Connections of which it cannot be shown that their process is older than their name.
    static func oldConnections(_ broker: Broker, busPins: Bool) async -> Finding {
        let subject = "old connections"
        if busPins { return Finding(subject, .good, "the bus knows the process of each, whatever its age") }
        guard let own = await BusFacts.owner(broker.connection).flatMap(ConnectionAge.init) else {
            return Finding(subject, .absent, "the bus does not say which name the broker has")
        }
        let clients: [Broker.Client]
        do throws(ChatelaineError) {
            clients = try await broker.clients()
        } catch {
            return Finding(
                subject, .absent, "who is connected is told to administrators alone",
                advice: "Run this command from /usr/bin, or list it in [Manager].")
        }
        let old = clients.map(\.connection).filter { name in
            ConnectionAge(name).map { $0 < own } == true
        }
        if old.isEmpty { return Finding(subject, .good, "no client was connected before the broker") }
        return Finding(
            subject, .weak,
            "\(old.joined(separator: ", ")) came before the broker: worth user trust at most",
            advice: "Start these programs again; chatelaine clients shows them.")
    }
}

/// The number in a unique name of a bus, which counts its connections up.
struct ConnectionAge: Comparable {
    private let numbers: [UInt64]

    /// Nil for what is no bus's name.
    init?(_ name: String) {
        let parts = name.dropFirst().split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { UInt64($0) }
        guard name.hasPrefix(":"), parts.count == 2, numbers.count == 2 else { return nil }
        self.numbers = numbers
    }

    static func < (left: Self, right: Self) -> Bool {
        left.numbers.lexicographicallyPrecedes(right.numbers)
    }
}
