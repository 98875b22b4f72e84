internal import BrokerBus
internal import BrokerModel
internal import SDBus

extension Broker {
    /// Looks once at whose broker it is, before anything else is said to it.
    func checkOwner() async throws(ChatelaineError) {
        guard let ownerIDs else { return }
        let userID = try await onBus { () async throws(BusError) in
            try await connection.callBus("GetConnectionUnixUser", try await owner()).read(UInt32.self)
        }
        guard ownerIDs.contains(userID) else {
            throw ChatelaineError(
                Refusal(
                    .accessDenied,
                    "The broker's name on this bus is another user's, so nothing was sent to it."))
        }
        self.ownerIDs = nil
    }

    /// The unique name of the broker, which is started for it where the bus can.
    func owner() async throws(BusError) -> String {
        try await connection.call(
            Contract.name, path: Contract.path, interface: "org.freedesktop.DBus.Peer", member: "Ping")
        return try await connection.callBus("GetNameOwner", Contract.name).read(String.self)
    }
}

extension Endpoint {
    /// The users that a broker there may be of; nil where any may be.
    @BrokerActor var brokerIDs: Set<UInt32>? {
        switch self {
        case .user: [ClientProcess.userID]
        case .system: [0, ClientProcess.userID(named: "chatelaine") ?? 0]
        case .address: nil
        }
    }
}
