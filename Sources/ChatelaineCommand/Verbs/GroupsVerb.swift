internal import Chatelaine
internal import Console
internal import SDBus

/// `groups`: what is stored where.
@BrokerActor enum GroupsVerb {
    static func run(_ context: Context) async throws(Failure) {
        let broker = try context.connect()
        let groups = try await onBroker { () async throws(ChatelaineError) in try await broker.groups() }
        let json = JSON.array(
            groups.map {
                .object([
                    JSON.Member("AccessGroup", .string($0.name)),
                    JSON.Member("Background", .number($0.background)),
                    JSON.Member("Foreground", .number($0.foreground)),
                ])
            })
        try context.print(json) {
            var table = Table(["GROUP", "BACKGROUND", "FOREGROUND"])
            for group in groups {
                table.add([group.name, String(group.background), String(group.foreground)])
            }
            return groups.isEmpty ? "" : table.text(context.style)
        }
    }
}
