internal import BrokerHost
internal import SDBus

/// What a bus says of its connections.
@BrokerActor enum BusFacts {
    /// Who a connection is.
    struct Credentials {
        var userID: UInt32 = .max
        var processID: UInt32 = 0
        var hasProcessFD = false
        var hasLabel = false
    }

    /// Nil where the bus does not say.
    static func credentials(of name: String, _ connection: Connection) async -> Credentials? {
        guard let reply = try? await connection.callBus("GetConnectionCredentials", name) else { return nil }
        return try? reply.withReader { (reader) throws(BusError) in
            var credentials = Credentials()
            try reader.dictionary { (key, value) throws(BusError) in
                switch key {
                case "UnixUserID": credentials.userID = try value.read()
                case "ProcessID": credentials.processID = try value.read()
                case "ProcessFD": credentials.hasProcessFD = true
                case "LinuxSecurityLabel": credentials.hasLabel = true
                default: break
                }
            }
            return credentials
        }
    }

    /// The owner of the broker's name.
    static func brokerCredentials(_ connection: Connection) async -> Credentials? {
        await credentials(of: brokerName, connection)
    }

    private static let brokerName = "org.chatelaine.Broker1"

    /// The unique name of the owner.
    static func owner(_ connection: Connection) async -> String? {
        try? await connection.callBus("GetNameOwner", brokerName).read(String.self)
    }

    /// The arguments that the process was started with, the program's name among them; none where they cannot
    /// be read.
    static func arguments(_ processID: UInt32) -> [String] {
        guard let text = HostKernel.text("/proc/\(processID)/cmdline") else { return [] }
        return text.split(separator: "\0").map { String($0) }
    }

    /// Every name on the bus, and every one that can be started.
    static func names(_ connection: Connection) async -> Set<String> {
        var names: Set<String> = []
        for member in ["ListNames", "ListActivatableNames"] {
            names.formUnion((try? await connection.callBus(member).read([String].self)) ?? [])
        }
        return names
    }

    /// What the kernel calls the process, which the process chose itself.
    static func programName(_ processID: UInt32) -> String {
        guard let file = try? HostFile.read("/proc/\(processID)/comm", limit: 4096) else {
            return "unknown program"
        }
        return String(decoding: file.bytes.prefix { $0 != 0x0A }, as: UTF8.self)
    }
}
