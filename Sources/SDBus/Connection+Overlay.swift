internal import CSystemd

extension Connection {
    /// Serves an interface at `prefix` and on every path below it, before sd-bus looks for objects: for
    /// `org.freedesktop.DBus.Properties`, which it would answer itself, with values that nobody can wait for.
    ///
    /// A method that the interface lacks is left to sd-bus, and so is a path that has objects of a nearer prefix: each
    /// prefix that has objects needs an overlay of its own.
    public func overlay(_ interface: Interface, prefix: String) throws(BusError) -> Registration {
        let registration = Registration()
        let object = Exported(interface, self, at: prefix)
        try unsafe add(object, to: registration) { userdata, slot in
            unsafe sd_bus_add_fallback(bus, &slot, prefix, messageOverlaid, userdata)
        }
        return registration
    }
}

private let messageOverlaid: sd_bus_message_handler_t = { message, userdata, _ in
    let exported = unsafe Unmanaged<Exported>.fromOpaque(userdata!).takeUnretainedValue()
    // The loop calls back on its own thread, which assumeIsolated checks and the compiler cannot see.
    nonisolated(unsafe) let message = unsafe message!
    return BrokerActor.assumeIsolated { unsafe exported.overlay(message) }
}

extension Exported {
    fileprivate func overlay(_ message: OpaquePointer) -> Int32 {
        guard let connection, unsafe string(sd_bus_message_get_interface(message)) == interface.name,
            let member = unsafe string(sd_bus_message_get_member(message)),
            let box = interface.methods[member]
        else { return 0 }
        guard unsafe sd_bus_message_has_signature(message, box.input) > 0 else {
            unsafe Replies.fail(
                message, on: connection, .invalidArguments("The arguments are of other types."))
            return 1
        }
        return unsafe box.run(message)
    }
}
