internal import BrokerDesk
internal import SDBus
internal import SecretServiceFront

extension Daemon {
    /// Offers `org.freedesktop.secrets`. Where another keyring has the name the broker serves all else.
    func makeSecretService(_ desk: Desk, on connection: Connection, _ log: Log) async -> SecretServiceFront? {
        do throws(BusError) {
            let front = try SecretServiceFront(
                connection, desk: SecretServiceDesk(desk), prompter: BusPrompter(connection))
            try await connection.requestName(SecretServiceName.bus)
            return front
        } catch .nameTaken {
            log.write(
                .warning, "another keyring owns \(SecretServiceName.bus); existing programs go on using that")
        } catch {
            log.write(.warning, "\(SecretServiceName.bus) cannot be served: \(error.message)")
        }
        return nil
    }
}
