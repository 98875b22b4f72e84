internal import Chatelaine
internal import Console
internal import SDBus

/// `logout`: deletes a service's items and tells the group's programs.
@BrokerActor enum LogoutVerb {
    static func run(_ context: Context) async throws(Failure) {
        let invocation = context.invocation
        guard let group = invocation[.group] else { throw .usage("--group is missing", .logout) }
        // Empty stands for the whole group, which nobody who writes the option means.
        guard invocation[.service] != "" else { throw .usage("--service needs a value", .logout) }
        let broker = try context.connect()
        let outcome = try await onBroker { () async throws(ChatelaineError) in
            try await broker.logout(
                group: group, service: invocation[.service] ?? "", reason: invocation[.reason] ?? "")
        }
        let json = JSON.object([
            JSON.Member("Deleted", .number(outcome.deleted)), JSON.Member("Epoch", .number(outcome.epoch)),
        ])
        try context.print(json) {
            var fields = Fields()
            fields.add("Deleted", String(outcome.deleted))
            fields.add("Epoch", String(outcome.epoch))
            return fields.text(context.style)
        }
    }
}
