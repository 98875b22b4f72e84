internal import BrokerModel
internal import SDBus

/// A connection to the broker that is made when it is needed, and anew when it has gone or the broker was restarted.
@BrokerActor final class BrokerLink {
    let endpoint: Endpoint
    private var current: Broker?

    nonisolated init(_ endpoint: Endpoint) {
        self.endpoint = endpoint
        BrokerActor.shared.loop.startThread()
    }

    /// The connection, open as far as this side knows.
    func broker() throws(VaultError) -> Broker {
        if let current, current.connection.isOpen { return current }
        current?.close()
        let made = try Self.connect(endpoint)
        current = made
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
            let sessions = current?.sessions ?? 0
            do throws(VaultError) {
                return try await once(body)
            } catch .interrupted, .needsPrompt {
                continue
            } catch .invalid(let wire) where wire.kind == .noSession {
                current?.forgetSession(since: sessions)
            }
        }
        return try await once(body)
    }

    private func once<Value>(
        _ body: @BrokerActor (Broker) async throws(ChatelaineError) -> Value
    ) async throws(VaultError) -> Value {
        let broker = try broker()
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
