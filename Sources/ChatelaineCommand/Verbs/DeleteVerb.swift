internal import Chatelaine
internal import Console
internal import SDBus

/// `delete`: the item that matches, or with `--all` every one.
@BrokerActor enum DeleteVerb {
    static func run(_ context: Context) async throws(Failure) {
        let invocation = context.invocation
        guard narrowing.contains(where: invocation.has) else {
            throw .usage(
                "say which item: --class, --group, --accessible and --synchronizable do not", .delete)
        }
        var query = try invocation.query()
        let broker = try context.connect()
        if !invocation.has(.all) && !invocation.has(.reference) {
            query = try await single(query, broker)
        }
        query["IfRevision"] = try invocation.ifRevision()
        let chosen = query
        let deleted = try await onBroker { () async throws(ChatelaineError) in
            try await broker.delete(chosen)
        }
        try context.print(.object([JSON.Member("Deleted", .number(deleted))])) {
            var fields = Fields()
            fields.add("Deleted", String(deleted))
            return fields.text(context.style)
        }
    }

    private static let narrowing: [Option] =
        Option.primaryKey + [.label, .description, .comment, .generic, .reference]

    // The one match by its reference, so that another which appears meanwhile stays.
    private static func single(_ query: Attributes, _ broker: Broker) async throws(Failure) -> Attributes {
        var counting = query
        counting["Limit"] = .number(2)
        let asked = counting
        let found = try await onBroker { () async throws(ChatelaineError) in try await broker.search(asked) }
        guard found.count < 2 else {
            throw .usage("several items match, and none was deleted; narrow it down, or use --all", .delete)
        }
        guard let reference = found.first?["Reference"] else { throw .notFound }
        var one = Attributes()
        one["Reference"] = reference
        return one
    }
}
