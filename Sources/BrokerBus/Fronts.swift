public import BrokerModel
public import SDBus

/// The contract on every connection that it is served on: the bus, and each peer of the direct endpoint.
@BrokerActor public final class Fronts {
    private var bus: BrokerFront?
    private var direct: [String: BrokerFront] = [:]

    /// Nothing is served yet.
    public nonisolated init() {}

    /// Serves a bus; its connections are all subscribers whose names are no direct peer's.
    public func serveBus(_ front: BrokerFront) { bus = front }

    func add(_ front: BrokerFront, for peer: String) { direct[peer] = front }

    func remove(_ peer: String) { direct[peer] = nil }

    /// Tells one subscriber, wherever it is connected. One that has gone hears nothing.
    public func tell(_ notice: Notice, sequence: UInt64, to subscriber: String) {
        let isDirect = subscriber.hasPrefix(DirectEndpoint.prefix)
        (isDirect ? direct[subscriber] : bus)?.tell(notice, sequence: sequence, to: subscriber)
    }

    /// Tells one connection that properties of the manager have changed, of its own user or of the one that is named.
    public func propertiesChanged(_ names: [String], to connection: String, of namedUserID: UInt32?) {
        let isDirect = connection.hasPrefix(DirectEndpoint.prefix)
        (isDirect ? direct[connection] : bus)?.propertiesChanged(names, to: connection, of: namedUserID)
    }

    /// Tells everybody that properties of the manager have changed.
    public func propertiesChanged(_ names: [String]) {
        bus?.propertiesChanged(names)
        for front in direct.values { front.propertiesChanged(names) }
    }
}
