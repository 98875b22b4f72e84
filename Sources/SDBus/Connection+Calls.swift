internal import CSystemd
internal import Glibc

extension Connection {
    /// Calls a method and waits for its reply; `read` of the reply gives its values.
    ///
    /// The message is queued before the first suspension. Without a timeout sd-bus's 25 seconds hold; a call that is
    /// late, refused or cut off throws the error's D-Bus name, and a cancelled one throws `cancelled`. A server's end
    /// of a direct connection makes no calls.
    /// - Parameters:
    ///   - destination: who is called; nil on a direct connection.
    ///   - timeoutMicroseconds: nil for the default, `.max` for none.
    ///   - allowInteraction: sets the flag that lets the other side prompt a person.
    ///   - sensitive: wipes the call and its reply from memory when they are done with.
    @discardableResult
    public func call<each Argument: BusEncodable>(
        _ destination: String?, path: String, interface: String, member: String,
        _ arguments: repeat each Argument, timeoutMicroseconds: UInt64? = nil, allowInteraction: Bool = false,
        sensitive: Bool = false
    ) async throws(BusError) -> Reply {
        try await call(
            destination, path: path, interface: interface, member: member,
            timeoutMicroseconds: timeoutMicroseconds, allowInteraction: allowInteraction, sensitive: sensitive
        ) { (writer: inout MessageWriter) throws(BusError) in
            repeat try (each arguments).encode(to: &writer)
        }
    }

    /// The same with arguments that `write` puts into the message itself: for secrets, and what cannot be copied.
    @discardableResult
    public func call(
        _ destination: String?, path: String, interface: String, member: String,
        timeoutMicroseconds: UInt64? = nil, allowInteraction: Bool = false, sensitive: Bool = false,
        write: (inout MessageWriter) throws(BusError) -> Void
    ) async throws(BusError) -> Reply {
        if isClosed { throw .disconnected }
        // Nothing would tell it that a reply is late.
        if pump != nil { throw .invalidArguments("The server's end of a direct connection makes no calls") }
        var made: OpaquePointer?
        try check(unsafe sd_bus_message_new_method_call(bus, &made, destination, path, interface, member))
        guard let message = unsafe made else { throw BusError(errno: ENOMEM) }
        defer { _ = unsafe sd_bus_message_unref(message) }
        if sensitive { try check(unsafe sd_bus_message_sensitive(message)) }
        if allowInteraction {
            try check(unsafe sd_bus_message_set_allow_interactive_authorization(message, 1))
        }
        var writer = unsafe MessageWriter(message)
        try write(&writer)
        return try unsafe await send(message, sensitive, timeoutMicroseconds ?? 0)
    }

    /// Asks the bus for the name. Throws `nameTaken` when somebody else has it; asking again for one's own is fine.
    public func requestName(_ name: String) async throws(BusError) {
        let doNotQueue: UInt32 = 4
        let result = try await callBus("RequestName", name, doNotQueue).read(UInt32.self)
        let (primaryOwner, alreadyOwner): (UInt32, UInt32) = (1, 4)
        guard result == primaryOwner || result == alreadyOwner else { throw .nameTaken }
    }

    /// Asks the bus for the name, and stays in line for it where somebody has it who does not let go. Nobody else can
    /// take it away again. Returns whether it is this connection's now.
    public func queueForName(_ name: String) async throws(BusError) -> Bool {
        let replaceExisting: UInt32 = 2
        let result = try await callBus("RequestName", name, replaceExisting).read(UInt32.self)
        let inQueue: UInt32 = 2
        return result != inQueue
    }

    /// Gives the name back, or the place in the line for it.
    public func releaseName(_ name: String) async throws(BusError) {
        try await callBus("ReleaseName", name)
    }

    /// The user of another connection to the bus, as the bus has it; nil for one that has gone.
    ///
    /// It asks and waits, blocking, for the bus alone: a property's value cannot be given later.
    public func userID(of name: String) -> UInt32? {
        guard isBus, !isClosed, name.hasPrefix(":") else { return nil }
        var credentials: OpaquePointer?
        guard unsafe sd_bus_get_name_creds(bus, name, UInt64(SD_BUS_CREDS_EUID), &credentials) >= 0 else {
            return nil
        }
        defer { _ = unsafe sd_bus_creds_unref(credentials) }
        var userID = uid_t.max
        return unsafe sd_bus_creds_get_euid(credentials, &userID) >= 0 ? userID : nil
    }

    /// Calls the bus itself.
    @discardableResult
    public func callBus<each Argument: BusEncodable>(
        _ member: String, _ arguments: repeat each Argument
    ) async throws(BusError) -> Reply {
        try await call(
            "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
            member: member, repeat each arguments)
    }

    private func send(
        _ message: OpaquePointer, _ sensitive: Bool, _ timeout: UInt64
    ) async throws(BusError) -> Reply {
        let pending = PendingCall(isSensitive: sensitive)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                unsafe pending.start(message, on: self, timeoutMicroseconds: timeout, continuation)
            }
        } onCancel: {
            BrokerActor.start { pending.cancel() }
        }
        return try result.get()
    }
}
