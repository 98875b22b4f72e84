internal import Chatelaine
internal import Console
internal import SDBus

/// `policy explain`: what the running broker decides for a process or a connection.
@BrokerActor enum PolicyExplainVerb {
    static func run(_ context: Context) async throws(Failure) {
        let operands = context.invocation.operands
        let target = UInt32(operands[0]).map { "pid:\($0)" } ?? operands[0]
        let broker = try context.connect()
        let found = try await onBroker { () async throws(ChatelaineError) in
            try await broker.explain(target, group: operands[1])
        }
        let json = JSON.object([
            JSON.Member("Application", .string(found.application)),
            JSON.Member("Trust", .string(found.trust)),
            JSON.Member("Decision", .string(found.decision)), JSON.Member("Reasons", .strings(found.reasons)),
            JSON.Member("Policy", .string(found.policy)),
        ])
        try context.print(json) { text(found, context.style) }
    }

    private static func text(_ found: Broker.Explanation, _ style: Style) -> String {
        var fields = Fields()
        fields.add("Decision", found.decision, found.decision == "allow" ? .good : .bad)
        fields.add("Application", found.application.isEmpty ? "none" : found.application)
        fields.add("Trust", found.trust)
        fields.add("Policy", found.policy.isEmpty ? "no line" : found.policy)
        fields.add("Reasons", found.reasons)
        return fields.text(style)
    }
}
