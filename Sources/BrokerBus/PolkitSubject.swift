internal import BrokerModel
internal import SDBus

/// Whom a question to polkit is about: `(sa{sv})`.
enum PolkitSubject: BusEncodable, Equatable {
    /// A connection of the bus that polkit is on: it asks the bus itself who that is.
    case busName(String)
    /// One process, which its start tells from others of the same number.
    case process(UInt32, startTicks: UInt64, userID: Int32)

    /// The process itself, for a bus that its connection is not on; nil where it could not be told from another.
    init?(process facts: PeerFacts) {
        guard let processID = facts.processID, let startTicks = facts.startTicks,
            let userID = Int32(exactly: facts.userID)
        else { return nil }
        self = .process(processID, startTicks: startTicks, userID: userID)
    }

    /// Nil for a caller that cannot be named so that polkit would mean the very same.
    init?(_ connection: String, _ facts: PeerFacts) {
        if connection.hasPrefix(":") {
            self = .busName(connection)
            return
        }
        guard connection.hasPrefix(DirectEndpoint.prefix) else { return nil }
        self.init(process: facts)
    }

    static var signature: String { "(sa{sv})" }

    func encode(to writer: inout MessageWriter) throws(BusError) {
        try writer.open("r", "sa{sv}")
        try writer.append(kind)
        try writer.open("a", "{sv}")
        switch self {
        case .busName(let name): try writer.entry("name", name)
        case .process(let processID, let startTicks, let userID):
            try writer.entry("pid", processID)
            try writer.entry("start-time", startTicks)
            try writer.entry("uid", userID)
        }
        try writer.close()
        try writer.close()
    }

    private var kind: String {
        switch self {
        case .busName: "system-bus-name"
        case .process: "unix-process"
        }
    }
}
