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
        let service = invocation[.service] ?? ""
        let reason = invocation[.reason] ?? ""
        if invocation.has(.force) {
            let forced = try await onBroker { () async throws(ChatelaineError) in
                try await broker.forceLogout(group: group, service: service, reason: reason)
            }
            let told = ("Subscribers", UInt64(forced.subscribers))
            return try show([("Deleted", UInt64(forced.deleted)), told, ("Epoch", forced.epoch)], context)
        }
        let outcome = try await onBroker { () async throws(ChatelaineError) in
            try await broker.logout(group: group, service: service, reason: reason)
        }
        try show([("Deleted", UInt64(outcome.deleted)), ("Epoch", outcome.epoch)], context)
    }

    private static func show(_ counts: [(String, UInt64)], _ context: Context) throws(Failure) {
        try context.print(.object(counts.map { JSON.Member($0.0, .number($0.1)) })) {
            var fields = Fields()
            for (name, count) in counts { fields.add(name, String(count)) }
            return fields.text(context.style)
        }
    }
}
