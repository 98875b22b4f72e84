internal import CSystemd
internal import Glibc

/// Sending replies. One that cannot be sent is dropped and logged: its caller is gone or does not read.
@BrokerActor enum Replies {
    /// Throws what `write` throws, or when the message cannot be made: an error can then go out in its place.
    static func send(
        to call: OpaquePointer, on connection: Connection, isSensitive: Bool,
        _ write: (inout MessageWriter) throws(BusError) -> Void
    ) throws(BusError) {
        var reply: OpaquePointer?
        try check(unsafe sd_bus_message_new_method_return(call, &reply))
        guard let reply = unsafe reply else { throw BusError(errno: ENOMEM) }
        defer { _ = unsafe sd_bus_message_unref(reply) }
        if isSensitive { try check(unsafe sd_bus_message_sensitive(reply)) }
        var writer = unsafe MessageWriter(reply)
        try write(&writer)
        let result = unsafe sd_bus_message_send(reply)
        connection.noteSent(bytes: writer.byteCount)
        if result < 0 { report("a reply", result, connection) }
    }

    /// Answers the call with the error, and with its number as a second argument.
    static func fail(_ call: OpaquePointer, on connection: Connection, _ error: BusError) {
        let result = unsafe attempt(call, error)
        connection.noteSent(bytes: error.message.utf8.count)
        if result < 0 { report("an error reply", result, connection) }
    }

    private static func report(_ what: String, _ result: Int32, _ connection: Connection) {
        // A peer that has left is nothing to talk about, and could make this one line for every call of its.
        if !connection.isBus && !connection.isOpen { return }
        BusLog.sink("\(what) was dropped: errno \(-result)")
    }

    private static func attempt(_ call: OpaquePointer, _ error: BusError) -> Int32 {
        var reply: OpaquePointer?
        let made = unsafe error.withC { unsafe sd_bus_message_new_method_error(call, &reply, $0) }
        guard made >= 0, let reply = unsafe reply else { return made }
        defer { _ = unsafe sd_bus_message_unref(reply) }
        if let extra = error.extra {
            var writer = unsafe MessageWriter(reply)
            do { try writer.append(extra) } catch { return -ENOMEM }
        }
        return unsafe sd_bus_message_send(reply)
    }
}

extension BusError {
    /// The name as it may go out: sd-bus would close the connection over an invalid one.
    var sendableName: String {
        unsafe sd_bus_interface_name_is_valid(name) > 0 && !name.utf8.contains(0) ? name : SD_BUS_ERROR_FAILED
    }

    /// Lends the error to C.
    func withC<Result>(_ body: (UnsafePointer<sd_bus_error>) -> Result) -> Result {
        unsafe sendableName.withCString { name in
            unsafe message.withCString { message in
                var error = unsafe sd_bus_error(name: name, message: message, _need_free: 0)
                return unsafe body(&error)
            }
        }
    }

    /// The error that a message carries, with its number when it has one; nil when it is no error.
    init?(message: OpaquePointer) {
        guard let error = unsafe sd_bus_message_get_error(message), unsafe error.pointee.name != nil else {
            return nil
        }
        var reader = unsafe MessageReader(message)
        _ = unsafe sd_bus_message_rewind(message, 1)
        let number = try? BusError.number(&reader)
        unsafe self.init(
            name: string(error.pointee.name) ?? SD_BUS_ERROR_FAILED,
            message: string(error.pointee.message) ?? "",
            extra: number ?? nil)
    }

    private static func number(_ reader: inout MessageReader) throws(BusError) -> UInt64? {
        try reader.skip()
        return try reader.peekType().type == UInt8(ascii: "t") ? UInt64(from: &reader) : nil
    }
}
