internal import BrokerGate
public import BrokerModel
internal import BrokerPeers
internal import BrokerVault
internal import SDBus
public import Sodium

extension Desk {
    // An item may change while the person is asked about it, but not for ever.
    private static let roundsMax = 4

    /// Makes a call that may meet gated items. Where a person must be asked, and may be, it is made again with what that
    /// has shown: from the gate on, since everything may have changed meanwhile.
    func asking<Value>(
        _ caller: Caller, _ context: CallContext, to operation: Operation,
        _ attempt: @escaping (_ proofs: Proofs, _ again: Bool) throws(Refusal) -> Outcome<Value>
    ) throws(Refusal) -> Outcome<Value> {
        let first: () async throws(Refusal) -> Value
        do throws(Refusal) {
            switch try attempt(.none, false) {
            case .now(let value): return .now(value)
            case .later(let work): first = work
            }
        } catch {
            guard !error.demands.isEmpty, context.allowsInteraction else { throw error }
            first = { () async throws(Refusal) in throw error }
        }
        guard context.allowsInteraction else { return .later(first) }
        return .later { () async throws(Refusal) in
            try await self.repeating(first, attempt) { (demands) async throws(Refusal) in
                try await self.prove(demands, caller, operation)
            }
        }
    }

    private func repeating<Value>(
        _ first: @escaping () async throws(Refusal) -> Value,
        _ attempt: @escaping (Proofs, Bool) throws(Refusal) -> Outcome<Value>,
        _ prove: ([Demand]) async throws(Refusal) -> Challenges.Outcome
    ) async throws(Refusal) -> Value {
        var (work, proofs) = (first, Proofs.none)
        for _ in 0..<Self.roundsMax {
            let demands: [Demand]
            do throws(Refusal) {
                return try await work()
            } catch {
                guard !error.demands.isEmpty else { throw error }
                demands = error.demands
            }
            switch try await prove(demands) {
            case .proven: proofs.accept(demands)
            // Nobody is told that it is closed before it is so for good.
            case .changed(let closed): try await vault.close(closed)
            }
            let met = proofs
            work = { () async throws(Refusal) in try await attempt(met, true).value() }
        }
        throw Refusal(.authFailed, "The item changes faster than a person can answer; try again.")
    }

    private func prove(
        _ demands: [Demand], _ caller: Caller, _ operation: Operation
    ) async throws(Refusal) -> Challenges.Outcome {
        let entitlements = gate.entitlements(of: caller)
        let outcome = try await challenges.prove(
            demands,
            for: Challenges.Asker(
                connection: caller.connection, facts: caller.facts, application: entitlements.application,
                program: gate.applicationName(of: caller), trust: entitlements.trust, operation: operation,
                isHere: { self.isKnown(caller.connection) }))
        // What is kept of a connection that has gone would never be forgotten again.
        guard isKnown(caller.connection) else {
            throw Refusal(.identityUnavailable, "The caller's connection is gone.")
        }
        return outcome
    }

    /// Stores what may be bound to the fingers that are enrolled. Only where it is, and could be stored otherwise, is the
    /// reader asked which they are.
    func binding<Value>(
        _ store: (_ fingers: FingerSet?) async throws(Refusal) -> Value
    ) async throws(Refusal) -> Value {
        do throws(Refusal) {
            return try await store(nil)
        } catch {
            guard error.asksForFingers else { throw error }
        }
        return try await store(challenges.enrolled())
    }

    /// `Confirm`: a passcode that a prompter brings, which unlocks nothing.
    public func confirm(
        _ context: CallContext, cookie: UInt64, _ passcode: SharedSecret
    ) throws(Refusal) -> Outcome<Void> {
        try managing(context, "confirm", .user(action: nil)) { (_, leave) throws(Refusal) in
            _ = try leave()
            return .later { () async throws(Refusal) in
                try await self.challenges.confirm(cookie) { () async throws(Refusal) in
                    try await self.vault.confirm(try leave(), passcode)
                }
            }
        }
    }
}
