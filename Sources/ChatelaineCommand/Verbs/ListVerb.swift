internal import BrokerHost
internal import Chatelaine
internal import Console
internal import SDBus

/// `list`: a line for every match, or with `--json` all attributes.
@BrokerActor enum ListVerb {
    static func run(_ context: Context) async throws(Failure) {
        var query = try context.invocation.query()
        query["Limit"] = try context.invocation.number(.limit).map { .number($0) }
        let broker = try context.connect()
        let items = try await onBroker { () async throws(ChatelaineError) in try await broker.search(query) }
        try context.print(.array(items.map(\.json))) { table(items, context.style) }
    }

    // What tells items apart; the rest would make lines that no terminal holds.
    private static let columns = [
        ("SERVICE", "Service"), ("SERVER", "Server"), ("PORT", "Port"), ("PROTOCOL", "Protocol"),
        ("PATH", "Path"), ("ACCOUNT", "Account"), ("LABEL", "Label"), ("GROUP", "AccessGroup"),
        ("EXPIRES", "Expires"), ("MODIFIED", "Modified"), ("REFERENCE", "Reference"),
    ]

    private static func table(_ items: [Attributes], _ style: Style) -> String {
        guard !items.isEmpty else {
            if Streams.isTerminal(1) { StandardError.write(line: "No items.") }
            return ""
        }
        var table = Table(columns.map(\.0))
        for item in items { table.add(columns.map { item.text(of: $0.1) }) }
        return table.text(style)
    }
}
