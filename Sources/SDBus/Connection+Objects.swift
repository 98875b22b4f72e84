internal import CSystemd
internal import Glibc

extension Connection {
    /// Puts the interfaces on an object. They are gone when the result is released.
    ///
    /// Throws when a member is there already, or when a name or a signature is none.
    public func export(_ interfaces: [Interface], at path: String) throws(BusError) -> Registration {
        let registration = Registration()
        for interface in interfaces {
            let object = Exported(interface, self, at: path)
            try unsafe add(object, to: registration) { userdata, slot in
                unsafe sd_bus_add_object_vtable(
                    bus, &slot, path, interface.name, interface.table.entries, userdata)
            }
        }
        return registration
    }

    /// Puts the interface on every object below `prefix` that `find` knows. `nodes` lists their paths to who
    /// introspects.
    public func exportFallback(
        _ interface: Interface, prefix: String, find: @escaping @BrokerActor (_ path: String) -> Bool,
        nodes: @escaping @BrokerActor (borrowing PropertyCall) -> [String] = { _ in [] }
    ) throws(BusError) -> Registration {
        let registration = Registration()
        let object = Exported(interface, self, at: prefix, find: find, nodes: nodes)
        try unsafe add(object, to: registration) { userdata, slot in
            unsafe sd_bus_add_fallback_vtable(
                bus, &slot, prefix, interface.name, interface.table.entries, objectSought, userdata)
        }
        try unsafe add(object, to: registration) { userdata, slot in
            unsafe sd_bus_add_node_enumerator(bus, &slot, prefix, nodesListed, userdata)
        }
        return registration
    }

    /// Tells that properties changed. Those that only invalidate, and those in `invalidated`, go without values.
    ///
    /// The values are what the getters give to nobody in particular.
    public func emitPropertiesChanged(
        at path: String, interface name: String, _ changed: [String], invalidated: [String] = [],
        to destination: String? = nil
    ) throws(BusError) {
        guard let interface = interface(name, at: path) else {
            throw .invalidArguments("No such interface on the object")
        }
        let properties = changed.compactMap { interface.properties[$0] }
        let silent = properties.filter { $0.change == .emitsInvalidation }.map(\.name)
        let call = PropertyCall(sender: nil, path: path, connection: self)
        try emit(
            "PropertiesChanged", interface: "org.freedesktop.DBus.Properties", path: path, to: destination
        ) { (writer) throws(BusError) in
            try writer.append(name)
            try writer.open("a", "{sv}")
            for box in properties where box.change != .emitsInvalidation {
                try writer.open("e", "sv")
                try writer.append(box.name)
                try writer.open(UInt8(ascii: "v"), contents: box.signature)
                try box.get(call, &writer)
                try writer.close()
                try writer.close()
            }
            try writer.close()
            try writer.append(silent + invalidated)
        }
    }

    private func interface(_ name: String, at path: String) -> Interface? {
        exported.values.first { $0.interface.name == name && $0.covers(path) }?.interface
    }

    func add(
        _ object: Exported, to registration: Registration,
        _ add: (UnsafeMutableRawPointer, inout OpaquePointer?) -> Int32
    ) throws(BusError) {
        let userdata = unsafe Unmanaged.passRetained(object)
        var slot: OpaquePointer?
        let result = unsafe add(userdata.toOpaque(), &slot)
        guard result >= 0, let slot = unsafe slot else {
            unsafe userdata.release()
            throw BusError(errno: result)
        }
        unsafe registration.adopt(slot)
        let id = ObjectIdentifier(object)
        exported[id] = object
        registration.atEnd { [weak self] in self?.exported[id] = nil }
    }
}

extension Exported {
    fileprivate func paths(_ bus: OpaquePointer, _ prefix: UnsafePointer<CChar>?) -> [String] {
        guard let connection else { return [] }
        return nodes?(unsafe PropertyCall(bus, prefix, connection)) ?? []
    }
}

private let objectSought: sd_bus_object_find_t = { _, path, _, userdata, found, _ in
    let exported = unsafe Unmanaged<Exported>.fromOpaque(userdata!).takeUnretainedValue()
    let path = unsafe string(path) ?? ""
    let isThere = BrokerActor.assumeIsolated { exported.find?(path) ?? false }
    unsafe found?.pointee = userdata
    return isThere ? 1 : 0
}

private let nodesListed: sd_bus_node_enumerator_t = { bus, prefix, userdata, nodes, _ in
    let exported = unsafe Unmanaged<Exported>.fromOpaque(userdata!).takeUnretainedValue()
    // The loop calls back on its own thread, which assumeIsolated checks and the compiler cannot see.
    nonisolated(unsafe) let (bus, prefix) = unsafe (bus!, prefix)
    let paths = BrokerActor.assumeIsolated { unsafe exported.paths(bus, prefix) }
    guard let strings = unsafe makeStrings(paths) else { return -ENOMEM }
    unsafe nodes?.pointee = strings
    return 0
}
