internal import CSystemd

/// The userdata of an object's slot: it keeps the interface alive, whose table the slot walks when it goes.
@BrokerActor final class Exported {
    let interface: Interface
    let path: String
    let find: (@BrokerActor (String) -> Bool)?
    let nodes: (@BrokerActor (borrowing PropertyCall) -> [String])?
    // Weak: a message may still be dispatched while the connection's last reference has gone on another thread.
    private(set) weak var connection: Connection?

    init(
        _ interface: Interface, _ connection: Connection, at path: String,
        find: (@BrokerActor (String) -> Bool)? = nil,
        nodes: (@BrokerActor (borrowing PropertyCall) -> [String])? = nil
    ) {
        self.interface = interface
        self.path = path
        self.connection = connection
        self.find = find
        self.nodes = nodes
    }

    /// Whether an object of that path has this interface.
    func covers(_ object: String) -> Bool {
        guard let find else { return object == path }
        return object.hasPrefix(path + "/") && find(object)
    }

    /// What the handler that runs now on that bus was exported with.
    static func current(on bus: OpaquePointer?) -> Exported? {
        guard let slot = unsafe sd_bus_get_current_slot(bus),
            let userdata = unsafe sd_bus_slot_get_userdata(slot)
        else { return nil }
        return unsafe Unmanaged<Exported>.fromOpaque(userdata).takeUnretainedValue()
    }
}
