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
            try await connection.requestName(Contract.name)
            open()
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
