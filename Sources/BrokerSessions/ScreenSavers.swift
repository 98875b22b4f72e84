internal import SDBus

/// Follows the screen savers of a session's bus: of desktops that do not tell logind when they lock.
@BrokerActor final class ScreenSavers {
    private var owners: [NameOwner] = []
    private var registrations: [Registration] = []
    private let began: () -> Void

    private static let names = ["org.freedesktop.ScreenSaver", "org.gnome.ScreenSaver"]

    init(_ began: @escaping () -> Void) { self.began = began }

    func start(on connection: Connection) async throws(BusError) {
        for name in Self.names {
            let owner = try await NameOwner.follow(name, on: connection)
            owners.append(owner)
            registrations.append(
                try await connection.matchSignal(sender: name, interface: name, member: "ActiveChanged") {
                    [began] signal in
                    guard let current = owner.current, signal.sender == current,
                        (try? signal.read(Bool.self)) == true
                    else { return }
                    began()
                })
        }
    }
}
