internal import BrokerBus
internal import SDBus

extension Daemon {
    /// Asks the bus for both names before an answer to either, for the broker's own last: who sees that one finds both.
    func requestNames(_ mode: SecretServiceMode) async throws(BusError) {
        let decision = await secretService?.decision(mode) ?? .giveBack
        async let own = requestOwnName()
        await secretService?.carryOut(decision)
        try await own.get()
    }

    private func requestOwnName() async -> Result<Void, BusError> {
        do throws(BusError) {
            // A call that has the bus start the broker comes before the answer to the request, and after this.
            registrations.append(
                try await connection.onNameOwnerChanged(name: Contract.name) { [weak self] _, _, owner in
                    if owner == self?.connection.uniqueName { self?.open() }
                })
            try await connection.requestName(Contract.name)
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    /// Opens the store in the same step as the first name: who calls it next must find the store open.
    func open() {
        openStore?()
        openStore = nil
    }
}
