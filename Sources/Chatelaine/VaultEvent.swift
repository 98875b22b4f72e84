public import BrokerModel

/// What a program that holds credentials is told.
public enum VaultEvent: Sendable, Equatable {
    /// Events follow from now on: at the start, after an interruption and after a gap. The state as it is now, and the
    /// last logout of each group: a program that writes down what it has handled hands that in at its next start.
    case subscribed(DeviceState, epochs: [String: UInt64])
    /// The keychain was locked or unlocked.
    case lockState(DeviceState)
    /// Drop what is held of it, in memory and elsewhere. Asking for the next event says that this is done.
    case loggedOut(Logout)
    /// An item of a group was added, updated or removed.
    case changed(ItemChange)
    /// An item of a group should be renewed.
    case refreshNeeded(group: String, reference: String)
    /// Events were lost on the way: what was read before may be old. `subscribed` follows.
    case gap
    /// The broker or the bus is gone, and nothing is told until `subscribed` comes again. Nothing need be done.
    case interrupted

    /// A logout of a service, or of a whole group.
    public struct Logout: Sendable, Equatable {
        /// The group.
        public let group: String
        /// The service; empty: everything of the group.
        public let service: String
        /// Its number in the group, which grows.
        public let epoch: UInt64
        /// What whoever asked for it says, for the user.
        public let reason: String
        /// Whether it happened while nobody was listening: of what service is then not known, and `service` is empty.
        public let wasMissed: Bool

        /// Whether what is held of that service has to be dropped.
        public func concerns(service name: String) -> Bool { service.isEmpty || service == name }
    }

    /// A change of an item; neither its account nor its service is told.
    public struct ItemChange: Sendable, Equatable {
        /// The group.
        public let group: String
        /// The item's persistent reference.
        public let reference: String
        /// What happened to it.
        public let kind: Kind
        /// Its revision, or the last that it had.
        public let revision: UInt64

        /// The words of the contract.
        public enum Kind: String, Sendable {
            case added
            case updated
            case removed
        }
    }
}
