internal import BrokerBus
internal import BrokerModel
internal import SDBus

/// A connection to the broker that is made when it is needed, and anew when it has gone or the broker was restarted.
///
/// One that is replaced is not closed: whoever still waits for an answer on it gets that, and it ends with the last of
/// them.
@BrokerActor final class BrokerLink {
    let endpoint: Endpoint
    private var current: Broker?

    nonisolated init(_ endpoint: Endpoint) {
        self.endpoint = endpoint
        BrokerActor.shared.loop.startThread()
    }

    /// The connection, open as far as this side knows, and younger than the broker.
    private func broker() async throws(VaultError) -> Broker {
        if let current, current.isUsable { return current }
        let made = try Self.connect(endpoint)
        current = made
        if !made.isDirect { await made.watchItsAge() }
        return made
    }

    /// Connects; whatever keeps it from that means that there is no broker.
    static func connect(_ endpoint: Endpoint) throws(VaultError) -> Broker {
        do throws(ChatelaineError) {
            return try Broker.connect(to: endpoint)
        } catch {
            throw error.kind == nil ? .brokerMissing(error) : VaultError(error)
        }
    }

    /// Makes the calls of `body`, which may be made up to three times: where the broker was restarted, where the
    /// connection went meanwhile, and where an unlock came between the refusal and the question of what is locked.
    func call<Value>(
        _ body: @BrokerActor (Broker) async throws(ChatelaineError) -> Value
    ) async throws(VaultError) -> Value {
        for _ in 1...2 {
            if let value = try await attempt(try await broker(), body) { return value }
        }
        return try await once(try await broker(), body)
    }

    /// The same on that connection for as long as it can be used: a lease belongs to the one that it was granted to.
    func call<Value>(
        on broker: Broker, _ body: @BrokerActor (Broker) async throws(ChatelaineError) -> Value
    ) async throws(VaultError) -> Value {
        for _ in 1...2 where broker.isUsable {
            if let value = try await attempt(broker, body) { return value }
        }
        return try await call(body)
    }

    /// Nil where another try may do better, maybe on another connection.
    private func attempt<Value>(
        _ broker: Broker, _ body: @BrokerActor (Broker) async throws(ChatelaineError) -> Value
    ) async throws(VaultError) -> Value? {
        do throws(VaultError) {
            return try await once(broker, body)
        } catch .interrupted, .needsPrompt {
            return nil
        } catch {
            guard broker.isOutlived || error.wire.kind == .noSession else { throw error }
            // This one alone, whatever others have connected meanwhile.
            if current === broker { current = nil }
            return nil
        }
    }

    private func once<Value>(
        _ broker: Broker, _ body: @BrokerActor (Broker) async throws(ChatelaineError) -> Value
    ) async throws(VaultError) -> Value {
        do throws(ChatelaineError) {
            return try await body(broker)
        } catch {
            guard error.kind == .interactionNotAllowed else { throw VaultError(error) }
            throw await lock(error, broker)
        }
    }

    // The refusal of a locked item and of one that asks for a person is the same.
    private func lock(_ error: ChatelaineError, _ broker: Broker) async -> VaultError {
        guard let status = try? await broker.status() else { return .locked(error) }
        switch DeviceState(rawValue: status.state) {
        case .beforeFirstUnlock: return .beforeFirstUnlock(error)
        case .unlocked: return .needsPrompt(error)
        case .locked, nil: return .locked(error)
        }
    }
}

extension Broker {
    fileprivate var isUsable: Bool { connection.isOpen && !isOutlived }

    // The bus says it before the new broker can answer anything. A bus that takes no match will say what is wrong to
    // the call that follows.
    fileprivate func watchItsAge() async {
        let watch = try? await connection.onNameOwnerChanged(name: Contract.name) { [weak self] _, _, _ in
            self?.isOutlived = true
        }
        if let watch { registrations.append(watch) }
    }
}
