internal import BrokerModel
internal import SDBus

/// One subscriber of the broker: connects, subscribes, and does both again when it has to.
@BrokerActor final class EventFeed {
    private let endpoint: Endpoint
    private let groups: [String]
    private var subscription: Live?
    private var waiting: [VaultEvent] = []
    /// Of each group the last logout that was handed out.
    private var told: [String: UInt64]
    /// The logouts that the consumer is busy with.
    private var unacknowledged: [VaultEvent.Logout] = []
    private var isInterrupted = false
    private var pause: UInt64 = 0

    private static let firstPause: UInt64 = 50_000
    private static let lastPause: UInt64 = 5_000_000

    private struct Live {
        let broker: Broker
        var events: AsyncStream<Event>.Iterator
        var sequence: UInt64
    }

    nonisolated init(_ endpoint: Endpoint, _ groups: [String], handled: [String: UInt64]) {
        self.endpoint = endpoint
        self.groups = groups
        told = handled
    }

    /// The next event; nil when the task was cancelled.
    func next() async throws(VaultError) -> VaultEvent? {
        await acknowledge()
        while !Task.isCancelled {
            if !waiting.isEmpty { return handOut(waiting.removeFirst()) }
            if var live = subscription {
                let event = await live.events.next(isolation: BrokerActor.shared)
                if let event { try await take(event) } else { interrupt() }
            } else {
                try await connect()
            }
        }
        close()
        return nil
    }

    private func handOut(_ event: VaultEvent) -> VaultEvent {
        if case .loggedOut(let logout) = event { unacknowledged.append(logout) }
        return event
    }

    // An acknowledgement that is lost with the connection is made up for by subscribing again.
    private func acknowledge() async {
        let handled = unacknowledged
        unacknowledged = []
        guard let broker = subscription?.broker else { return }
        for logout in handled {
            try? await broker.acknowledge(group: logout.group, epoch: logout.epoch)
        }
    }

    private func interrupt() {
        close()
        if !isInterrupted { waiting.append(.interrupted) }
        isInterrupted = true
        pause = max(pause, Self.firstPause)
    }

    private func close() {
        subscription?.broker.close()
        subscription = nil
    }
}

extension EventFeed {
    private func connect() async throws(VaultError) {
        if pause > 0 {
            // Spread, so that the programs of a session do not all come back in one moment.
            let spread = UInt64.random(in: pause / 2...pause)
            guard (try? await BrokerActor.shared.loop.sleep(microseconds: spread)) != nil else { return }
        }
        do throws(VaultError) {
            let broker = try BrokerLink.connect(endpoint)
            try await open(broker)
            pause = 0
            isInterrupted = false
        } catch {
            if case .notEntitled = error { throw error }
            interrupt()
            pause = min(pause * 2, Self.lastPause)
        }
    }

    private func open(_ broker: Broker) async throws(VaultError) {
        do throws(ChatelaineError) {
            let events = try await broker.events().makeAsyncIterator()
            let answer = try await broker.subscribe(to: groups)
            subscription = Live(broker: broker, events: events, sequence: answer.sequence)
            report(answer)
        } catch {
            broker.close()
            throw VaultError(error)
        }
    }

    // What was missed comes first: a program that writes down the epochs of `subscribed` must not have that behind it
    // before it has dropped what it held.
    private func report(_ answer: Broker.Subscription) {
        for now in answer.epochs {
            if let before = told[now.group], before != now.epoch {
                let missed = VaultEvent.Logout(
                    group: now.group, service: "", epoch: now.epoch, reason: "", wasMissed: true)
                waiting.append(.loggedOut(missed))
            }
            told[now.group] = now.epoch
        }
        let epochs = Dictionary(answer.epochs.map { ($0.group, $0.epoch) }) { _, last in last }
        waiting.append(.subscribed(DeviceState(rawValue: answer.state) ?? .locked, epochs: epochs))
    }

    private func take(_ event: Event) async throws(VaultError) {
        guard let expected = subscription.map({ $0.sequence + 1 }) else { return }
        subscription?.sequence = event.sequence
        if event.sequence != expected {
            try await resubscribe()
            // What came over a subscription that is gone would stand behind `interrupted`, as if it still held.
            guard subscription != nil else { return }
        }
        switch event.change {
        case .lockState(let state, _): waiting.append(.lockState(state))
        case .loggedOut(let group, let service, let epoch, let reason):
            // Those that subscribing again has told of come once more behind it.
            guard epoch > told[group] ?? 0 else { return }
            told[group] = epoch
            waiting.append(
                .loggedOut(
                    VaultEvent.Logout(
                        group: group, service: service, epoch: epoch, reason: reason, wasMissed: false)))
        case .item(let group, let reference, let change, let revision):
            guard let kind = VaultEvent.ItemChange.Kind(rawValue: change) else { return }
            waiting.append(
                .changed(
                    VaultEvent.ItemChange(group: group, reference: reference, kind: kind, revision: revision))
            )
        case .refreshNeeded(let group, let reference):
            waiting.append(.refreshNeeded(group: group, reference: reference))
        }
    }

    private func resubscribe() async throws(VaultError) {
        guard let broker = subscription?.broker else { return }
        waiting.append(.gap)
        do throws(ChatelaineError) {
            report(try await broker.subscribe(to: groups))
        } catch {
            let error = VaultError(error)
            if case .notEntitled = error { throw error }
            interrupt()
        }
    }
}
