internal import BrokerBus
internal import BrokerModel
internal import BrokerHost

/// Where the peers ask: the bus for its connections, and the direct endpoint for its own; for `pid:N`, which `Explain` looks at as if it had just
/// connected, the process itself.
struct ProcessCredentials: CredentialSource {
    let bus: BusCredentials
    let direct: DirectEndpoint
    /// Whose processes there are; nil for everybody's.
    let userID: UInt32?

    func credentials(of connection: String) async -> ConnectionCredentials? {
        if connection.hasPrefix(DirectEndpoint.prefix) { return await direct.credentials(of: connection) }
        guard connection.hasPrefix("pid:") else { return await bus.credentials(of: connection) }
        guard let processID = UInt32(connection.dropFirst(4)) else { return nil }
        var credentials = ConnectionCredentials()
        credentials.userID = userID ?? UserDatabase.userID(ofProcess: processID)
        credentials.processID = processID
        return credentials
    }
}
