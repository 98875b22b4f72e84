internal import BrokerBus
public import BrokerModel
internal import SDBus
public import Sodium

extension Broker {
    /// What a caller that wants an item refreshed is to do.
    public enum RefreshStart: Sendable {
        /// Use this: the item is newer than what the caller had.
        case current(Item)
        /// Ask the token server with this, then call ``completeRefresh(_:_:_:)`` or ``failRefresh(_:_:message:)``
        /// with the fence. Nobody else asks meanwhile.
        case granted(fence: UInt64, Item)
    }

    /// Asks for the right to refresh the item that `query` finds, or for what somebody else's refresh gave.
    ///
    /// `stale` is the revision of what the caller has; with another one in the store the answer is `current`. While
    /// somebody else refreshes, this waits; past `timeoutMicroseconds` it throws `busy`, which is no licence to refresh.
    public func beginRefresh(
        _ query: Attributes, stale revision: UInt64, timeoutMicroseconds: UInt64
    ) async throws(ChatelaineError) -> RefreshStart {
        let session = try await session()
        return try await call(Contract.Interface.refresh, "Begin", .endless, sensitive: true) {
            (writer) throws(BusError) in
            try writer.append(query)
            try writer.append(revision)
            try writer.append(timeoutMicroseconds)
            try writer.append(ObjectPath(session.path))
        } read: { (reader) throws(BusError) in
            let outcome = try reader.read(String.self)
            let fence = try reader.read(UInt64.self)
            let attributes = try reader.read(Attributes.self)
            let item = Item(attributes: attributes, secret: try Self.open(try reader.read(), session))
            return outcome == "granted" ? .granted(fence: fence, item) : .current(item)
        }
    }

    /// Stores what the token server gave, answers everyone who waits, and returns the new revision. `leaseLost`: the
    /// fence was passed on or revoked, and nothing is stored. After `io` it may be repeated.
    public func completeRefresh(
        _ fence: UInt64, _ changes: Attributes, _ secret: SharedSecret
    ) async throws(ChatelaineError) -> UInt64 {
        let session = try await session()
        return try await call(Contract.Interface.refresh, "Complete", sensitive: true) {
            (writer) throws(BusError) in
            try writer.append(fence)
            try writer.append(changes)
            try writer.append(OutgoingSecret(secret, for: session))
        } read: { (reader) throws(BusError) in
            try reader.read()
        }
    }

    /// Gives the right to refresh back. The message is kept nowhere, since nobody can know what it holds.
    public func failRefresh(
        _ fence: UInt64, _ failure: RefreshFailure, message: String = ""
    ) async throws(ChatelaineError) {
        try await call(Contract.Interface.refresh, "Fail") { (writer) throws(BusError) in
            try writer.append(fence)
            try writer.append(failure.rawValue)
            try writer.append(message)
        } read: { _ throws(BusError) in
        }
    }
}
