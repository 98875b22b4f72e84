internal import CSystemd
internal import Glibc

/// The table that sd-bus dispatches by. It owns its strings and boxes, and outlives every slot that uses it.
@safe final class VTable {
    let entries: UnsafeMutablePointer<sd_bus_vtable>
    private var strings: [UnsafeMutablePointer<CChar>] = unsafe []
    private let members: [InterfaceMember]

    init(_ members: [InterfaceMember]) {
        self.members = members
        unsafe entries = .allocate(capacity: members.count + 2)
        unsafe entries.initialize(repeating: sd_bus_vtable(), count: members.count + 2)
        unsafe start(&entries[0])
        for (index, member) in members.enumerated() {
            switch member.kind {
            case .method(let box): unsafe fill(&entries[index + 1], box)
            case .property(let box): unsafe fill(&entries[index + 1], box)
            case .signal(let signal): unsafe fill(&entries[index + 1], signal)
            }
        }
        unsafe entries[members.count + 1].type = UInt8(_SD_BUS_VTABLE_END)
    }

    deinit {
        unsafe entries.deallocate()
        unsafe strings.forEach { unsafe free($0) }
    }

    private func start(_ entry: inout sd_bus_vtable) {
        unsafe entry.type = UInt8(_SD_BUS_VTABLE_START)
        unsafe entry.x.start.element_size = MemoryLayout<sd_bus_vtable>.stride
        unsafe entry.x.start.features = UInt64(_SD_BUS_VTABLE_PARAM_NAMES)
        unsafe entry.x.start.vtable_format_reference = shim_vtable_format()
    }

    private func fill(_ entry: inout sd_bus_vtable, _ box: MethodBox) {
        // Who may do what is decided above this room, for every caller alike.
        var flags = UInt64(SD_BUS_VTABLE_UNPRIVILEGED) | UInt64(SD_BUS_VTABLE_ABSOLUTE_OFFSET)
        if box.isSensitive { flags |= UInt64(SD_BUS_VTABLE_SENSITIVE) }
        unsafe entry.type = UInt8(_SD_BUS_VTABLE_METHOD)
        unsafe entry.flags = flags
        unsafe entry.x.method.member = keep(box.name)
        unsafe entry.x.method.signature = keep(box.input)
        unsafe entry.x.method.result = keep(box.output)
        unsafe entry.x.method.handler = methodCalled
        unsafe entry.x.method.offset = Int(bitPattern: Unmanaged.passUnretained(box).toOpaque())
        unsafe entry.x.method.names = keep(
            Signature.names(box.inputs, for: box.input) + Signature.names(box.outputs, for: box.output))
    }

    private func fill(_ entry: inout sd_bus_vtable, _ box: PropertyBox) {
        let change =
            switch box.change {
            case .const: UInt64(SD_BUS_VTABLE_PROPERTY_CONST)
            case .emitsChange: UInt64(SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE)
            case .emitsInvalidation: UInt64(SD_BUS_VTABLE_PROPERTY_EMITS_INVALIDATION)
            case .silent: UInt64(0)
            }
        unsafe entry.type = UInt8(
            box.isWritable ? _SD_BUS_VTABLE_WRITABLE_PROPERTY : _SD_BUS_VTABLE_PROPERTY)
        unsafe entry.flags = UInt64(SD_BUS_VTABLE_ABSOLUTE_OFFSET) | change
        unsafe entry.x.property.member = keep(box.name)
        unsafe entry.x.property.signature = keep(box.signature)
        unsafe entry.x.property.get = propertyRead
        if box.isWritable { unsafe entry.x.property.set = propertyWritten }
        unsafe entry.x.property.offset = Int(bitPattern: Unmanaged.passUnretained(box).toOpaque())
    }

    private func fill(_ entry: inout sd_bus_vtable, _ signal: Signal) {
        unsafe entry.type = UInt8(_SD_BUS_VTABLE_SIGNAL)
        unsafe entry.x.signal.member = keep(signal.name)
        unsafe entry.x.signal.signature = keep(signal.signature)
        unsafe entry.x.signal.names = keep(Signature.names(signal.arguments, for: signal.signature))
    }

    /// A C string that lives as long as the table; a NUL inside stays.
    private func keep(_ text: String) -> UnsafePointer<CChar> {
        let count = text.utf8.count
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: count + 1)
        for (index, byte) in text.utf8.enumerated() { unsafe copy[index] = CChar(bitPattern: byte) }
        unsafe copy[count] = 0
        unsafe strings.append(copy)
        return unsafe UnsafePointer(copy)
    }
}

// In what follows: sd-bus calls back on the loop's thread, which assumeIsolated checks and the compiler cannot see.
private let methodCalled: sd_bus_message_handler_t = { message, userdata, _ in
    nonisolated(unsafe) let box = unsafe Unmanaged<MethodBox>.fromOpaque(userdata!).takeUnretainedValue()
    nonisolated(unsafe) let message = unsafe message!
    return BrokerActor.assumeIsolated { unsafe box.run(message) }
}

private let propertyRead: sd_bus_property_get_t = { bus, path, _, _, reply, userdata, failure in
    nonisolated(unsafe) let box = unsafe Unmanaged<PropertyBox>.fromOpaque(userdata!).takeUnretainedValue()
    nonisolated(unsafe) let (bus, path, reply, failure) = unsafe (bus!, path, reply!, failure)
    return BrokerActor.assumeIsolated { unsafe box.run(bus, path, reply, failure) }
}

// Written by an overlay; without one nothing can be.
private let propertyWritten: sd_bus_property_set_t = { _, _, _, _, _, _, _ in -EROFS }

// The bodies are functions of their own: the optimizer of Swift 6.3.1 crashes when it inlines them as closures.
extension MethodBox {
    @BrokerActor func run(_ message: OpaquePointer) -> Int32 {
        guard let exported = unsafe Exported.current(on: sd_bus_message_get_bus(message)),
            let connection = exported.connection
        else { return -ENOTCONN }
        do throws(BusError) {
            try serve(unsafe Call(message, to: exported, on: connection, isSensitive: isSensitive))
        } catch {
            unsafe Replies.fail(message, on: connection, error)
        }
        return 1
    }
}

extension PropertyBox {
    @BrokerActor fileprivate func run(
        _ bus: OpaquePointer, _ path: UnsafePointer<CChar>?, _ reply: OpaquePointer,
        _ failure: UnsafeMutablePointer<sd_bus_error>?
    ) -> Int32 {
        guard let connection = unsafe Exported.current(on: bus)?.connection else { return -ENOTCONN }
        do throws(BusError) {
            var writer = unsafe MessageWriter(reply)
            try get(unsafe PropertyCall(bus, path, connection), &writer)
            return 1
        } catch {
            return unsafe sd_bus_error_set(failure, error.sendableName, error.message)
        }
    }
}

extension PropertyCall {
    @BrokerActor init(_ bus: OpaquePointer, _ path: UnsafePointer<CChar>?, _ connection: Connection) {
        let message = unsafe sd_bus_get_current_message(bus)
        sender =
            unsafe connection.isBus ? string(message.flatMap { unsafe sd_bus_message_get_sender($0) }) : nil
        self.path = unsafe string(path) ?? ""
        self.connection = connection
    }
}
