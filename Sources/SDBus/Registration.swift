internal import CSystemd

/// Something that was put on a connection: an object, a match, a handler. It ends with `cancel` or with the last
/// reference to it, so it has to be kept.
@safe @BrokerActor public final class Registration {
    private var slots: [OpaquePointer] = unsafe []
    private var endings: [@BrokerActor () -> Void] = []

    init() {}

    /// Takes the slot over, whose userdata is a retained object that goes with it.
    func adopt(_ slot: OpaquePointer) {
        unsafe sd_bus_slot_set_destroy_callback(slot) { userdata in
            if let userdata = unsafe userdata { unsafe Unmanaged<AnyObject>.fromOpaque(userdata).release() }
        }
        unsafe slots.append(slot)
    }

    /// Runs `ending` when this is cancelled.
    func atEnd(_ ending: @escaping @BrokerActor () -> Void) {
        endings.append(ending)
    }

    /// Takes it back; nothing is called after this.
    public func cancel() {
        let ended = unsafe slots
        unsafe slots = []
        endings.forEach { $0() }
        endings = []
        unsafe ended.forEach { _ = unsafe sd_bus_slot_unref($0) }
    }

    isolated deinit {
        cancel()
    }
}
