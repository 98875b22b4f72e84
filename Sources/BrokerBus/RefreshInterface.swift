internal import BrokerModel
internal import SDBus
internal import Sodium

extension Dispatch {
    /// `org.chatelaine.Broker1.Refresh` (INTERFACE).
    func refreshInterface() -> Interface {
        Interface(Contract.Interface.refresh) {
            Method(
                "Begin", in: ["query", "stale", "timeout", "session"],
                out: ["outcome", "fence", "attributes", "secret"]
            ) {
                (
                    call: borrowing Call, query: WireAttributes, stale: UInt64, timeout: UInt64,
                    path: ObjectPath
                ) throws(BusError) -> Answer<(String, UInt64, AttributesReply, OutgoingSecret)> in
                let context = try context(call)
                let dictionary = try open(query, context)
                let session = try session(path, context)
                return try answer(context) { () throws(Refusal) in
                    try service.beginRefresh(
                        context, dictionary, stale: stale, timeoutMicroseconds: timeout)
                } _: {
                    (
                        $0.fence == nil ? "current" : "granted", $0.fence ?? 0,
                        AttributesReply($0.item.attributes), OutgoingSecret($0.item.secret, for: session)
                    )
                }
            }.sensitive
            Method("Complete", in: ["fence", "changes", "secret"], out: ["revision"]) {
                (
                    call: borrowing Call, fence: UInt64, changes: WireAttributes, secret: SealedSecret
                ) throws(BusError) -> Answer<UInt64> in
                let context = try context(call)
                let dictionary = try open(changes, context)
                let secret = try open(secret, context)
                return try answer(context) { () throws(Refusal) in
                    try service.completeRefresh(context, fence: fence, dictionary, secret)
                } _: {
                    $0
                }
            }.sensitive
            Method("Fail", in: ["fence", "kind", "message"]) {
                (call: borrowing Call, fence: UInt64, kind: String, message: String) throws(BusError)
                    -> Answer<Void> in
                let context = try context(call)
                return try answer(context) { () throws(Refusal) in
                    try service.failRefresh(context, fence: fence, kind: kind, message: message)
                } _: {
                    $0
                }
            }.sensitive
        }
    }
}
