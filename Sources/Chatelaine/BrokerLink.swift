internal import BrokerBus
internal import BrokerModel
internal import SDBus

/// A connection to the broker that is made when it is needed, and anew when it has gone or the broker was restarted.
@BrokerActor final class BrokerLink {
    let endpoint: Endpoint
    private var current: Broker?
    private var isFresh = false
    private var watch: Registration?

    nonisolated init(_ endpoint: Endpoint) {
        self.endpoint = endpoint
        BrokerActor.shared.loop.startThread()
    }

    /// The connection, open as far as this side knows, and younger than the broker: an older one is worth less to it,
    /// since it cannot be shown any more what made that connection.
    private func broker() async throws(VaultError) -> Broker {
        if let current, isFresh, current.connection.isOpen { return current }
        current?.close()
        let made = try Self.connect(endpoint)
        current = made
        isFresh = true
        if !made.isDirect {
            let registration = await ownerChange(of: made)
            if current === made { watch = registration }
        }
        return made
    }

    // The bus says it before the new broker can answer anything. A bus that takes no match will say what is wrong to
    // the call that follows.
    private func ownerChange(of made: Broker) async -> Registration? {
        try? await made.connection.onNameOwnerChanged(name: Contract.name) { [weak self, weak made] _, _, _ in
            if self?.current === made { self?.isFresh = false }
        }
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
            do throws(VaultError) {
                return try await once(body)
            } catch .interrupted, .needsPrompt {
                continue
            } catch {
                guard !isFresh || error.wire.kind == .noSession else { throw error }
                isFresh = false
            }
        }
        return try await once(body)
    }

    private func once<Value>(
        _ body: @BrokerActor (Broker) async throws(ChatelaineError) -> Value
    ) async throws(VaultError) -> Value {
        let broker = try await broker()
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
