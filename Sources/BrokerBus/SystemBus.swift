internal import BrokerModel
public import SDBus

/// The system's bus, for a broker that is on another: reached when it is first needed, and again after it has gone.
@BrokerActor public final class SystemBus {
    private let address: String
    private var connection: Connection?
    private var polkit: Polkit?
    private let readerTurns = Turns()

    /// `address` is where it is. It must come from where no other program of the user can put it.
    public init(_ address: String) { self.address = address }

    /// Nil where it cannot be reached.
    private func connected() -> Connection? {
        if let connection, connection.isOpen { return connection }
        polkit = nil
        connection = try? Connection.begin(address: address)
        return connection
    }

    /// Who answers for the machine there.
    func authority() -> Polkit? {
        guard let connection = connected() else { return nil }
        let found = polkit ?? Polkit(connection)
        polkit = found
        return found
    }

    /// The fingerprint reader that is there now.
    func reader() async -> FingerprintReader? {
        guard let connection = connected() else { return nil }
        return await FingerprintReader(connection, turns: readerTurns)
    }
}
