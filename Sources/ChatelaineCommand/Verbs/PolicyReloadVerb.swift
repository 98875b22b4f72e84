internal import BrokerHost
internal import Chatelaine
internal import Console
internal import SDBus

/// `policy reload`: the broker reads its policy again.
@BrokerActor enum PolicyReloadVerb {
    static func run(_ context: Context) async throws(Failure) {
        let broker = try context.connect()
        let warnings = try await onBroker { () async throws(ChatelaineError) in
            try await broker.reloadPolicy()
        }
        try context.print(.object([JSON.Member("Warnings", .strings(warnings))])) {
            warnings.map { "warning: \($0.printable)\n" }.joined()
        }
    }
}
