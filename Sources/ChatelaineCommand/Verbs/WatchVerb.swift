internal import BrokerModel
internal import Chatelaine
internal import Console
internal import SDBus

/// `watch`: a line for each signal, after one that says where it begins.
@BrokerActor enum WatchVerb {
    static func run(_ context: Context) async throws(Failure) {
        let broker = try context.connect()
        let groups = context.invocation.all(.group)
        let events = try await onBroker { () async throws(ChatelaineError) in try await broker.events() }
        var last = try await subscribe(broker, groups, context)
        for await event in events {
            try show(Line(event), context)
            if case .loggedOut(let group, _, let epoch, _) = event.change {
                try await onBroker { () async throws(ChatelaineError) in
                    try await broker.acknowledge(group: group, epoch: epoch)
                }
            }
            // A gap: the bus dropped a signal, and only the broker can say where things are now.
            last = event.sequence == last + 1 ? event.sequence : try await subscribe(broker, groups, context)
        }
        throw Failure(.failed, "the broker is gone")
    }

    private static func subscribe(
        _ broker: Broker, _ groups: [String], _ context: Context
    ) async throws(Failure) -> UInt64 {
        let subscription = try await onBroker { () async throws(ChatelaineError) in
            try await broker.subscribe(to: groups)
        }
        try show(Line(subscription), context)
        return subscription.sequence
    }

    private static func show(_ line: Line, _ context: Context) throws(Failure) {
        try context.print(line.json) { line.text }
    }

    /// One line of output.
    struct Line {
        let name: String
        private var arguments: [JSON.Member] = []

        init(_ subscription: Broker.Subscription) {
            name = "Subscribed"
            let epochs = subscription.epochs.map { JSON.Member($0.group, .number($0.epoch)) }
            arguments = [
                JSON.Member("Sequence", .number(subscription.sequence)),
                JSON.Member("State", .string(subscription.state)),
                JSON.Member("Epochs", .object(epochs)),
            ]
        }

        init(_ event: Event) {
            let sequence = JSON.Member("Sequence", .number(event.sequence))
            switch event.change {
            case .lockState(let state, let isAvailable):
                name = "LockStateChanged"
                arguments = [
                    sequence, JSON.Member("State", .string(state.rawValue)),
                    JSON.Member("ProtectedDataAvailable", .flag(isAvailable)),
                ]
            case .loggedOut(let group, let service, let epoch, let reason):
                name = "LoggedOut"
                arguments = [
                    sequence, JSON.Member("Group", .string(group)), JSON.Member("Service", .string(service)),
                    JSON.Member("Epoch", .number(epoch)), JSON.Member("Reason", .string(reason)),
                ]
            case .item(let group, let reference, let change, let revision):
                name = "ItemChanged"
                arguments = [
                    sequence, JSON.Member("Group", .string(group)),
                    JSON.Member("Reference", .string(reference)), JSON.Member("Change", .string(change)),
                    JSON.Member("Revision", .number(revision)),
                ]
            case .refreshNeeded(let group, let reference):
                name = "RefreshNeeded"
                arguments = [
                    sequence, JSON.Member("Group", .string(group)),
                    JSON.Member("Reference", .string(reference)),
                ]
            }
        }

        var json: JSON { .object([JSON.Member("Event", .string(name))] + arguments) }

        var text: String {
            ([name] + arguments.map { "\($0.name)=\(Self.word($0.value))" }).joined(separator: " ") + "\n"
        }

        // Plain where it can be read as one word, else as in JSON.
        private static func word(_ value: JSON) -> String {
            guard case .string(let text) = value else { return value.text.printable }
            let isWord = !text.isEmpty && !text.contains { $0 == " " || $0 == "\"" }
            return (isWord ? text : value.text).printable
        }
    }
}
