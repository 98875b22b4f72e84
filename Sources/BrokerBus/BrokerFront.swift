public import BrokerModel
public import SDBus

/// The contract on one connection, of a bus or of one peer: objects, sessions, signals.
@BrokerActor public final class BrokerFront {
    private let connection: Connection
    private let dispatch: Dispatch
    private var registrations: [Registration] = []

    /// Exports the objects. Nothing is served before the loop runs. `peer` is what the other side of a direct connection
    /// is called; nil on a bus, which names its callers itself.
    public init(
        _ connection: Connection, service: any BrokerService, allowsPlain: Bool, peer: String? = nil
    ) throws(BusError) {
        self.connection = connection
        let sessions = SessionTable(allowsPlain: allowsPlain)
        dispatch = Dispatch(service: service, sessions: sessions, peer: peer)
        registrations = [
            try connection.export(
                [
                    dispatch.itemsInterface(), dispatch.refreshInterface(),
                    dispatch.subscriptionsInterface(), dispatch.managerInterface(),
                ],
                at: Contract.path),
            try connection.exportFallback(
                dispatch.sessionInterface(), prefix: Contract.sessions,
                find: { sessions.contains($0) }, nodes: { _ in sessions.paths }),
        ]
        if service.servesAllUsers { registrations.append(try exportUsers(service)) }
    }

    private func exportUsers(_ service: any BrokerService) throws(BusError) -> Registration {
        var dispatch = dispatch
        dispatch.namesUser = true
        return try connection.exportFallback(
            dispatch.managerInterface(), prefix: Contract.users,
            find: { Contract.userID(ofObject: $0) != nil },
            nodes: { [dispatch] call in
                guard let context = dispatch.context(call) else { return [] }
                return service.openKeychains(for: context.connection).map { "\(Contract.users)/\($0)" }
            })
    }

    /// Follows the connections of the bus. `appeared` and `gone` get unique names.
    public func watchConnections(
        appeared: @escaping @BrokerActor (String) -> Void, gone: @escaping @BrokerActor (String) -> Void
    ) async throws(BusError) {
        let sessions = dispatch.sessions
        registrations.append(
            try await connection.onNameOwnerChanged { name, old, new in
                guard name.hasPrefix(":") else { return }
                if new.isEmpty {
                    sessions.forget(name)
                    gone(name)
                } else if old.isEmpty {
                    appeared(name)
                }
            })
    }

    /// Tells one subscriber.
    public func tell(_ notice: Notice, sequence: UInt64, to subscriber: String) {
        do throws(BusError) {
            switch notice {
            case .lockStateChanged(let state):
                try emit("LockStateChanged", subscriber, sequence, state.rawValue, state == .unlocked)
            case .loggedOut(let group, let service, let epoch, let reason):
                try emit("LoggedOut", subscriber, sequence, group.name, service, epoch, reason)
            case .itemChanged(let group, let reference, let change, let revision, _, _):
                try emit(
                    "ItemChanged", subscriber, sequence, group.name, reference.description, change.rawValue,
                    revision)
            case .refreshNeeded(let group, let reference, _):
                try emit("RefreshNeeded", subscriber, sequence, group.name, reference.description)
            }
        } catch {
            // A signal that cannot be queued shows to its subscriber as a gap in the sequence.
            BusLog.sink("signal not sent: \(error.name)")
        }
    }

    /// Tells everybody that properties of the manager have changed, or one connection: of its own user's keychain, or
    /// of the user's that an object names.
    public func propertiesChanged(
        _ names: [String], to connection: String? = nil, of namedUserID: UInt32? = nil
    ) {
        do throws(BusError) {
            try self.connection.emitPropertiesChanged(
                at: namedUserID.map { "\(Contract.users)/\($0)" } ?? Contract.path,
                interface: Contract.Interface.manager, names, to: connection)
        } catch {
            BusLog.sink("PropertiesChanged not sent: \(error.name)")
        }
    }

    private func emit<each Argument: BusEncodable>(
        _ name: String, _ subscriber: String, _ arguments: repeat each Argument
    ) throws(BusError) {
        try connection.emit(
            signal: name, interface: Contract.Interface.subscriptions, path: Contract.path, to: subscriber,
            repeat each arguments)
    }
}

extension Dispatch {
    /// `org.chatelaine.Broker1.Session` (INTERFACE).
    func sessionInterface() -> Interface {
        Interface(Contract.Interface.session) {
            Method("Close") { (call: borrowing Call) throws(BusError) -> Void in
                let context = try context(call)
                let path = call.path
                try onWire { () throws(Refusal) in try sessions.close(path, owner: context.connection) }
            }
        }
    }
}
