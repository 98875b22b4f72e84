internal import Chatelaine
internal import SDBus

/// `lock`.
@BrokerActor enum LockVerb {
    static func run(_ context: Context) async throws(Failure) {
        let broker = try context.connect()
        try await onBroker { () async throws(ChatelaineError) in try await broker.lock() }
    }
}
