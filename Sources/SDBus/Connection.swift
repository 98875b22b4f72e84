internal import CSystemd
internal import Glibc

/// A connection to a bus, or to one peer. All of it happens on the broker's loop.
@safe @BrokerActor public final class Connection {
    let bus: OpaquePointer
    /// False for a peer-to-peer connection.
    public let isBus: Bool
    /// What waits for an answer, with what ends the wait when the connection is closed.
    var waiting: [ObjectIdentifier: @BrokerActor () -> Void] = [:]
    /// What `emitPropertiesChanged` may name.
    var exported: [ObjectIdentifier: Exported] = [:]
    private(set) var isClosed = false
    /// What turns a server's end of a direct connection.
    var pump: Pump?
    /// What the other side has not taken yet, where that is limited.
    var backlog: Backlog?

    /// Takes over a bus that was started.
    private init(started bus: OpaquePointer, isBus: Bool, isServer: Bool = false) throws(BusError) {
        unsafe self.bus = bus
        self.isBus = isBus
        if isServer {
            pump = try unsafe Pump(bus) { [weak self] in self?.turn() }
        } else {
            try check(unsafe sd_bus_attach_event(bus, BrokerActor.shared.loop.event, 0))
        }
    }

    /// Connects to the bus at that address and waits, blocking, until the bus has given it a name.
    public static func open(address: String) throws(BusError) -> Connection {
        let bus = try unsafe make()
        return try unsafe finish(bus, isBus: true, started: start(bus, address, isBus: true))
    }

    /// Connects to the session's bus.
    public static func openUser() throws(BusError) -> Connection {
        var bus: OpaquePointer?
        try check(unsafe sd_bus_open_user(&bus))
        guard let bus = unsafe bus else { throw BusError(errno: ENOMEM) }
        return try unsafe finish(bus, isBus: true, started: 0)
    }

    /// Connects to the system's bus.
    public static func openSystem() throws(BusError) -> Connection {
        var bus: OpaquePointer?
        try check(unsafe sd_bus_open_system(&bus))
        guard let bus = unsafe bus else { throw BusError(errno: ENOMEM) }
        return try unsafe finish(bus, isBus: true, started: 0)
    }

    /// Begins to connect to the bus at that address, and waits for nothing: what is called meanwhile is sent when the bus has
    /// answered. Throws where nobody listens; one that then refuses is lost like any other (`onDisconnect`).
    public static func begin(address: String) throws(BusError) -> Connection {
        let bus = try unsafe make()
        let result = unsafe start(bus, address, isBus: true)
        guard result >= 0 else {
            _ = unsafe sd_bus_close_unref(bus)
            throw BusError(errno: result)
        }
        return try unsafe Connection(started: bus, isBus: true)
    }

    /// Connects to a peer that is no bus. It says no `Hello`; the handshake goes on while calls are queued.
    public static func openDirect(address: String) throws(BusError) -> Connection {
        let bus = try unsafe make()
        return try unsafe finish(bus, isBus: false, started: start(bus, address, isBus: false))
    }

    /// The same over a connected socket.
    public static func openDirect(fd: consuming UnixFD) throws(BusError) -> Connection {
        let bus = try unsafe make()
        let result = unsafe adopt(bus, fd)
        return try unsafe finish(bus, isBus: false, started: result < 0 ? result : sd_bus_start(bus))
    }

    /// The server's end of a peer-to-peer connection over an accepted socket.
    ///
    /// sd-bus lets any user in: look at the socket's credentials before this.
    public convenience init(server fd: consuming UnixFD) throws(BusError) {
        let bus = try unsafe Connection.make()
        var id = sd_id128_t()
        unsafe sd_id128_randomize(&id)
        var result = unsafe Connection.adopt(bus, fd)
        if result >= 0 { result = unsafe sd_bus_set_server(bus, 1, id) }
        if result >= 0 { result = unsafe sd_bus_start(bus) }
        guard result >= 0 else {
            _ = unsafe sd_bus_close_unref(bus)
            throw BusError(errno: result)
        }
        try unsafe self.init(started: bus, isBus: false, isServer: true)
    }

    /// The name that the bus gave; nil on a direct connection.
    public var uniqueName: String? {
        guard isBus, !isClosed else { return nil }
        var name: UnsafePointer<CChar>?
        return unsafe sd_bus_get_unique_name(bus, &name) < 0 ? nil : string(name)
    }

    /// False when the connection was closed from either side.
    public var isOpen: Bool { unsafe !isClosed && sd_bus_is_open(bus) > 0 }

    /// Messages that the other side has not taken yet. One who does not read lets them grow.
    public var queuedMessages: UInt64 {
        var count: UInt64 = 0
        return unsafe sd_bus_get_n_queued_write(bus, &count) < 0 ? 0 : count
    }

    /// Whether the other side has proven its user, as it must before its first message.
    public var isAuthenticated: Bool { unsafe !isClosed && sd_bus_is_ready(bus) > 0 }

    /// Writes what is queued, blocking. Only for the way out, and only towards a bus: a peer that does not read
    /// would hold up everybody.
    public func flush() {
        if isBus { _ = unsafe sd_bus_flush(bus) }
    }

    /// Closes it. What was not written is dropped, and calls that wait end with `disconnected`.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        pump = nil
        unsafe sd_bus_close(bus)
        waiting.values.forEach { $0() }
        exported = [:]
    }

    isolated deinit {
        close()
        _ = unsafe sd_bus_unref(bus)
    }
}

extension Connection {
    private static func make() throws(BusError) -> OpaquePointer {
        var bus: OpaquePointer?
        try check(unsafe sd_bus_new(&bus))
        guard let bus = unsafe bus else { throw BusError(errno: ENOMEM) }
        return unsafe bus
    }

    private static func start(_ bus: OpaquePointer, _ address: String, isBus: Bool) -> Int32 {
        var result = unsafe sd_bus_set_address(bus, address)
        if result >= 0 { result = unsafe sd_bus_set_bus_client(bus, isBus ? 1 : 0) }
        return result < 0 ? result : unsafe sd_bus_start(bus)
    }

    /// The bus closes the descriptor from here on.
    private static func adopt(_ bus: OpaquePointer, _ fd: consuming UnixFD) -> Int32 {
        let result = unsafe sd_bus_set_fd(bus, fd.number, fd.number)
        if result >= 0 { _ = fd.release() }
        return result
    }

    private static func finish(
        _ bus: OpaquePointer, isBus: Bool, started: Int32
    ) throws(BusError) -> Connection {
        var result = started
        var name: UnsafePointer<CChar>?
        if result >= 0 && isBus { result = unsafe sd_bus_get_unique_name(bus, &name) }
        guard result >= 0 else {
            _ = unsafe sd_bus_close_unref(bus)
            throw BusError(errno: result)
        }
        return try unsafe Connection(started: bus, isBus: isBus)
    }
}
