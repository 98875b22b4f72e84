internal import BrokerBus
internal import BrokerModel
internal import SDBus

extension Broker {
    /// Looks once at whose broker it is, before anything else is said to it.
    func checkOwner() async throws(ChatelaineError) {
        guard let unchecked else { return }
        let userID = try await onBus { () async throws(BusError) in
            try await connection.callBus("GetConnectionUnixUser", try await owner()).read(UInt32.self)
        }
        guard unchecked.mayBeServed(by: userID) else {
            throw ChatelaineError(
                Refusal(
                    .accessDenied,
                    "The broker's name on this bus is another user's, so nothing was sent to it."))
        }
        self.unchecked = nil
    }

    /// The unique name of the broker, which is started for it where the bus can.
    func owner() async throws(BusError) -> String {
        try await connection.call(
            Contract.name, path: Contract.path, interface: "org.freedesktop.DBus.Peer", member: "Ping")
        return try await connection.callBus("GetNameOwner", Contract.name).read(String.self)
    }
}

extension Endpoint {
    /// Whether a broker there may be that user's.
    @BrokerActor func mayBeServed(by userID: UInt32) -> Bool {
        switch self {
        case .user: return userID == ClientProcess.userID
        case .address: return true
        case .system:
            // A sandbox has a user database of its own, which does not know the broker's user: there it may be any that
            // no person logs in as.
            let brokerID = ClientProcess.userID(named: "chatelaine")
            return userID == 0 || brokerID.map { $0 == userID } ?? (userID < 1000)
        }
    }
}
