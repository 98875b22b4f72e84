/// Follows who has a name on the bus, so that a signal can be known for its owner's.
///
/// A match for a name keeps out what others send to all, and not what they send to this connection alone: whoever takes a
/// signal for the owner's compares its sender with `current`.
@BrokerActor public final class NameOwner {
    /// The unique name of the owner; nil where nobody has the name.
    public private(set) var current: String?
    private var registration: Registration?
    private var isTold = false

    private init() {}

    /// Asks the bus, and calls `changed` when the owner is another one from then on. Nobody is started for it.
    public static func follow(
        _ name: String, on connection: Connection, changed: @escaping @BrokerActor () -> Void = {}
    ) async throws(BusError) -> NameOwner {
        let owner = NameOwner()
        owner.registration = try await connection.onNameOwnerChanged(name: name) { [weak owner] _, _, new in
            owner?.isTold = true
            owner?.current = new.isEmpty ? nil : new
            changed()
        }
        let asked: String?
        do throws(BusError) {
            asked = try await connection.callBus("GetNameOwner", name).read(String.self)
        } catch {
            guard error.name == "org.freedesktop.DBus.Error.NameHasNoOwner" else { throw error }
            asked = nil
        }
        // What was told while the question was on its way is as new, or newer.
        if !owner.isTold { owner.current = asked }
        return owner
    }
}
