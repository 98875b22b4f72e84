internal import Chatelaine
internal import Console
internal import SDBus

/// `clients`: who is connected.
@BrokerActor enum ClientsVerb {
    static func run(_ context: Context) async throws(Failure) {
        let broker = try context.connect()
        let clients = try await onBroker { () async throws(ChatelaineError) in try await broker.clients() }
        try context.print(.array(clients.map(json))) { table(clients).text(context.style) }
    }

    private static func json(_ client: Broker.Client) -> JSON {
        .object([
            JSON.Member("Connection", .string(client.connection)),
            JSON.Member("ProcessID", .number(client.processID)),
            JSON.Member("Application", .string(client.application)),
            JSON.Member("Trust", .string(client.trust)),
            JSON.Member("AccessGroups", .strings(client.accessGroups)),
            JSON.Member("Role", .string(client.role)),
            JSON.Member("Subscribed", .strings(client.subscribed)),
            JSON.Member("PendingLogouts", .number(client.pendingLogouts)),
        ])
    }

    private static func table(_ clients: [Broker.Client]) -> Table {
        var table = Table([
            "CONNECTION", "PROCESS", "APPLICATION", "TRUST", "ROLE", "PENDING", "GROUPS", "SUBSCRIBED",
        ])
        for client in clients {
            table.add([
                client.connection, client.processID == 0 ? "unknown" : String(client.processID),
                client.application.isEmpty ? "none" : client.application, client.trust, client.role,
                String(client.pendingLogouts), client.accessGroups.joined(separator: " "),
                client.subscribed.joined(separator: " "),
            ])
        }
        return table
    }
}
