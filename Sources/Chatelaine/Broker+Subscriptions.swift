internal import BrokerBus
internal import SDBus

extension Broker {
    /// What a subscriber is told at once.
    public struct Subscription: Sendable, Equatable {
        /// The state, as the `State` property says it.
        public let state: String
        /// The groups that signals will come for, each with its last logout epoch. One other than the
        /// subscriber last handled: it missed a logout.
        public let epochs: [Epoch]
        /// The number of the last signal before those that follow.
        public let sequence: UInt64
    }

    /// A group's last logout.
    public struct Epoch: Sendable, Equatable {
        /// The group.
        public let group: String
        /// Its number.
        public let epoch: UInt64
    }

    /// The signals that come after ``subscribe(to:)``. The stream ends when the broker or the bus goes.
    public func events() async throws(ChatelaineError) -> AsyncStream<Event> {
        try await checkOwner()
        let (stream, continuation) = AsyncStream<Event>.makeStream()
        try await onBus { () async throws(BusError) in
            // On a bus by the broker's unique name: any connection may send us a signal of that interface.
            let owner = isDirect ? nil : try await owner()
            registrations += [
                try await connection.matchSignal(
                    sender: owner, path: Contract.path, interface: Contract.Interface.subscriptions
                ) { signal in
                    if let event = Event(signal) { continuation.yield(event) }
                },
                try connection.onDisconnect { continuation.finish() },
            ]
            if let owner { try await watch(owner, continuation) }
        }
        return stream
    }

    private func watch(
        _ owner: String, _ continuation: AsyncStream<Event>.Continuation
    ) async throws(BusError) {
        registrations.append(
            try await connection.onNameOwnerChanged(name: Contract.name) { _, old, _ in
                if old == owner { continuation.finish() }
            })
        // Whoever went before the bus watched the name is told of by nobody.
        let now = try? await connection.callBus("GetNameOwner", Contract.name).read(String.self)
        if now != owner { continuation.finish() }
    }

    /// Subscribes to the groups, or with none named to all of the caller's. Ask for ``events()`` before.
    public func subscribe(to groups: [String] = []) async throws(ChatelaineError) -> Subscription {
        try await call(Contract.Interface.subscriptions, "Subscribe") { (writer) throws(BusError) in
            try writer.append(groups)
        } read: { (reader) throws(BusError) in
            let state = try reader.read(String.self)
            var epochs: [Epoch] = []
            _ = try reader.enter("a", "(st)")
            while try reader.enter("r", "st") {
                epochs.append(Epoch(group: try reader.read(), epoch: try reader.read()))
                try reader.exit()
            }
            try reader.exit()
            return Subscription(state: state, epochs: epochs, sequence: try reader.read())
        }
    }

    /// Ends the subscription.
    public func unsubscribe() async throws(ChatelaineError) {
        try await call(Contract.Interface.subscriptions, "Unsubscribe") { _ throws(BusError) in }
    }

    /// "I have dropped what I held of this group up to this epoch."
    public func acknowledge(group: String, epoch: UInt64) async throws(ChatelaineError) {
        try await call(Contract.Interface.subscriptions, "Acknowledge") { (writer) throws(BusError) in
            try writer.append(group)
            try writer.append(epoch)
        } read: { _ throws(BusError) in
        }
    }
}
