public import BrokerModel
internal import SDBus

/// A signal of the broker to this subscriber.
public struct Event: Sendable, Equatable {
    /// Grows by one with each; after a gap something was lost, and the subscriber subscribes again.
    public let sequence: UInt64
    /// What happened.
    public let change: Change

    /// The signals of the contract.
    public enum Change: Sendable, Equatable {
        /// `LockStateChanged`
        case lockState(DeviceState, isProtectedDataAvailable: Bool)
        /// `LoggedOut`: drop what is held of the service, or with an empty one of the group, and acknowledge.
        case loggedOut(group: String, service: String, epoch: UInt64, reason: String)
        /// `ItemChanged`; the word is `added`, `updated` or `removed`.
        case item(group: String, reference: String, change: String, revision: UInt64)
        /// `RefreshNeeded`: the item should be renewed, by whoever asks for its lease first.
        case refreshNeeded(group: String, reference: String)
    }

    /// Nil for a signal that this version does not know or that is not as the contract has it.
    @BrokerActor init?(_ signal: borrowing ReceivedSignal) {
        let member = signal.member
        let decoded = try? signal.withReader { (reader) throws(BusError) in
            (try reader.read(UInt64.self), try Self.change(member, &reader))
        }
        guard let (sequence, change) = decoded, let change else { return nil }
        self.sequence = sequence
        self.change = change
    }

    private static func change(_ member: String, _ reader: inout MessageReader) throws(BusError) -> Change? {
        switch member {
        case "LockStateChanged":
            guard let state = DeviceState(rawValue: try reader.read()) else { return nil }
            return .lockState(state, isProtectedDataAvailable: try reader.read())
        case "LoggedOut":
            return .loggedOut(
                group: try reader.read(), service: try reader.read(), epoch: try reader.read(),
                reason: try reader.read())
        case "ItemChanged":
            return .item(
                group: try reader.read(), reference: try reader.read(), change: try reader.read(),
                revision: try reader.read())
        case "RefreshNeeded": return .refreshNeeded(group: try reader.read(), reference: try reader.read())
        default: return nil
        }
    }
}
