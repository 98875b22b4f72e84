internal import BrokerModel
internal import Chatelaine
internal import Console
internal import SDBus
internal import Sodium

/// `get`: the secret as it was stored, or the attributes.
@BrokerActor enum GetVerb {
    static func run(_ context: Context) async throws(Failure) {
        let invocation = context.invocation
        // Without one it would be the oldest secret of all, which nobody means.
        guard (Option.item + [.reference]).contains(where: invocation.has) else {
            throw .usage("say which item, with --service, --account or another item option", .get)
        }
        var query = try invocation.query()
        let broker = try context.connect()
        if invocation.has(.attributesOnly) {
            query["Limit"] = .number(1)
            let found = try await onBroker { () async throws(ChatelaineError) in
                try await broker.search(query)
            }
            guard let item = found.first else { throw .notFound }
            return try context.print(item.json) { item.text(context.style) }
        }
        let item = try await onBroker { () async throws(ChatelaineError) in try await broker.read(query) }
        guard invocation.isJSON else { return try Streams.write(item.secret.secret) }
        try printJSON(item)
    }

    // In pieces, so that the secret stays in locked memory.
    private static func printJSON(_ item: Broker.Item) throws(Failure) {
        try Streams.write(item.attributes.json.text.dropLast() + ",\"Secret\":\"")
        try Streams.write(Base64.text(item.secret.secret))
        try Streams.write("\"}\n")
    }
}

extension Failure {
    /// What the broker would say where it is not asked for one item.
    static let notFound = Failure(
        ChatelaineError(
            Refusal(.itemNotFound, "No item matches, among those that this program may see.")))
}
