internal import Chatelaine
internal import Console
internal import SDBus

/// `set`: stores an item.
@BrokerActor enum SetVerb {
    static func run(_ context: Context) async throws(Failure) {
        let item = try context.invocation.newItem()
        let broker = try context.connect()
        let secret = try Input.secret()
        let stored = try await onBroker { () async throws(ChatelaineError) in
            try await broker.store(item, secret)
        }
        let json = JSON.object([
            JSON.Member("Reference", .string(stored.reference)),
            JSON.Member("Revision", .number(stored.revision)),
        ])
        try context.print(json) {
            var fields = Fields()
            fields.add("Reference", stored.reference)
            fields.add("Revision", String(stored.revision))
            return fields.text(context.style)
        }
    }
}
