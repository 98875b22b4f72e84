/// What subscribers are told, after the fact and in the order it happened.
public enum Notice: Sendable, Equatable {
    /// The device was locked or unlocked.
    case lockStateChanged(DeviceState)
    /// A service of a group was logged out; its items are gone.
    case loggedOut(group: AccessGroup, service: String, epoch: UInt64, reason: String)
    /// An item was added, updated or removed. The side it is on and the one it was on decide who may hear
    /// of it, and as what. Nothing is told of items of the internal classes.
    case itemChanged(
        group: AccessGroup, reference: Reference, change: Change, revision: UInt64, side: Accessibility.Side,
        previousSide: Accessibility.Side)
    /// An item should be renewed.
    case refreshNeeded(group: AccessGroup, reference: Reference, side: Accessibility.Side)

    /// What happened to an item.
    public enum Change: String, Sendable {
        case added
        case updated
        case removed
    }
}
