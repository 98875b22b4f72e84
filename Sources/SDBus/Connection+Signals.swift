internal import CSystemd
internal import Glibc

extension Connection {
    /// Sends a signal: to one connection, or to all who have a match for it when `destination` is nil.
    public func emit<each Argument: BusEncodable>(
        signal member: String, interface: String, path: String, to destination: String?,
        _ arguments: repeat each Argument
    ) throws(BusError) {
        try emit(member, interface: interface, path: path, to: destination) { (writer) throws(BusError) in
            repeat try (each arguments).encode(to: &writer)
        }
    }

    func emit(
        _ member: String, interface: String, path: String, to destination: String?,
        write: (inout MessageWriter) throws(BusError) -> Void
    ) throws(BusError) {
        if isClosed { throw .disconnected }
        var made: OpaquePointer?
        try check(unsafe sd_bus_message_new_signal(bus, &made, path, interface, member))
        guard let message = unsafe made else { throw BusError(errno: ENOMEM) }
        defer { _ = unsafe sd_bus_message_unref(message) }
        // A peer has no name to be sent to.
        if let destination, isBus { try check(unsafe sd_bus_message_set_destination(message, destination)) }
        var writer = unsafe MessageWriter(message)
        try write(&writer)
        try check(unsafe sd_bus_send(bus, message, nil))
        noteSent(bytes: writer.byteCount)
    }

    /// Calls `handler` for every signal that fits; what is nil fits all. Returns when the bus has taken the match.
    public func matchSignal(
        sender: String? = nil, path: String? = nil, interface: String? = nil, member: String? = nil,
        firstArgument: String? = nil, _ handler: @escaping @BrokerActor (borrowing ReceivedSignal) -> Void
    ) async throws(BusError) -> Registration {
        // On a direct connection messages have no sender that a rule could fit.
        let parts = [
            ("type", "signal"), ("sender", isBus ? sender : nil), ("path", path), ("interface", interface),
            ("member", member), ("arg0", firstArgument),
        ]
        return try await install(rule(parts), handler)
    }

    /// Calls `handler` whenever a name gets or loses its owner; an empty string stands for nobody. With a name, for
    /// that one alone.
    public func onNameOwnerChanged(
        name: String? = nil,
        _ handler: @escaping @BrokerActor (_ name: String, _ old: String, _ new: String) -> Void
    ) async throws(BusError) -> Registration {
        try await matchSignal(
            sender: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
            member: "NameOwnerChanged", firstArgument: name
        ) { signal in
            // What is sent to this connection alone passes by the bus's match, and sd-bus takes any unique name for the
            // bus's own; the bus itself puts the sender in, and gives that name to nobody.
            guard signal.sender == "org.freedesktop.DBus",
                let (name, old, new) = try? signal.read(String.self, String.self, String.self)
            else { return }
            handler(name, old, new)
        }
    }

    /// Calls `handler` once when the other side is gone. Not when this side closes the connection.
    public func onDisconnect(_ handler: @escaping @BrokerActor () -> Void) throws(BusError) -> Registration {
        guard let pump else { return try onLocal("Disconnected", handler) }
        let registration = Registration()
        let id = ObjectIdentifier(registration)
        pump.gone[id] = handler
        registration.atEnd { [weak pump] in pump?.gone[id] = nil }
        return registration
    }

    private func onLocal(
        _ member: String, _ handler: @escaping @BrokerActor () -> Void
    ) throws(BusError) -> Registration {
        let userdata = unsafe Unmanaged.passRetained(SignalHandler { _ in handler() })
        var slot: OpaquePointer?
        let local = "org.freedesktop.DBus.Local"
        let result = unsafe sd_bus_match_signal_async(
            bus, &slot, local, "/org/freedesktop/DBus/Local", local, member, signalArrived, nil,
            userdata.toOpaque())
        return try unsafe adopt(slot, result, userdata)
    }

    private func rule(_ parts: [(key: String, value: String?)]) throws(BusError) -> String {
        var terms: [String] = []
        for (key, value) in parts {
            guard let value else { continue }
            // A quote would end the value and let what follows pass for a part of the rule.
            if value.utf8.contains(UInt8(ascii: "'")) {
                throw .invalidArguments("A match value holds a quote")
            }
            terms.append("\(key)='\(value)'")
        }
        return terms.joined(separator: ",")
    }

    private func install(
        _ rule: String, _ handler: @escaping @BrokerActor (borrowing ReceivedSignal) -> Void
    ) async throws(BusError) -> Registration {
        if isClosed { throw .disconnected }
        let box = SignalHandler(handler)
        let userdata = unsafe Unmanaged.passRetained(box)
        var slot: OpaquePointer?
        let result = unsafe sd_bus_add_match_async(
            bus, &slot, rule, signalArrived, matchInstalled, userdata.toOpaque())
        let registration = try unsafe adopt(slot, result, userdata)
        if isBus, let error = await box.installed(on: self) { throw error }
        return registration
    }

    private func adopt(
        _ slot: OpaquePointer?, _ result: Int32, _ userdata: Unmanaged<SignalHandler>
    ) throws(BusError) -> Registration {
        guard result >= 0, let slot = unsafe slot else {
            unsafe userdata.release()
            throw BusError(errno: result)
        }
        let registration = Registration()
        unsafe registration.adopt(slot)
        return registration
    }
}

/// The userdata of a match's slot.
@BrokerActor private final class SignalHandler {
    let body: @BrokerActor (borrowing ReceivedSignal) -> Void
    private var waiter: CheckedContinuation<BusError?, Never>?

    init(_ body: @escaping @BrokerActor (borrowing ReceivedSignal) -> Void) {
        self.body = body
    }

    /// Waits for the bus's word on the match. It comes in a later turn of the loop, so none can be missed.
    func installed(on connection: Connection) async -> BusError? {
        let id = ObjectIdentifier(self)
        connection.waiting[id] = { self.settle(.disconnected) }
        defer { connection.waiting[id] = nil }
        return await withCheckedContinuation { waiter = $0 }
    }

    func settle(_ error: BusError?) {
        waiter?.resume(returning: error)
        waiter = nil
    }
}

private let signalArrived: sd_bus_message_handler_t = { message, userdata, _ in
    let handler = unsafe Unmanaged<SignalHandler>.fromOpaque(userdata!).takeUnretainedValue()
    // The loop calls back on its own thread, which assumeIsolated checks and the compiler cannot see.
    nonisolated(unsafe) let message = unsafe message!
    BrokerActor.assumeIsolated { handler.body(unsafe ReceivedSignal(message)) }
    return 0
}

private let matchInstalled: sd_bus_message_handler_t = { message, userdata, _ in
    let handler = unsafe Unmanaged<SignalHandler>.fromOpaque(userdata!).takeUnretainedValue()
    // The loop calls back on its own thread, which assumeIsolated checks and the compiler cannot see.
    nonisolated(unsafe) let message = unsafe message!
    BrokerActor.assumeIsolated { handler.settle(unsafe BusError(message: message)) }
    return 1
}
