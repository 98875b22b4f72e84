public import BrokerBus
public import BrokerDesk
internal import BrokerModel
internal import SDBus

extension Desk: BrokerService {}
extension Desks: BrokerService {}

/// What the daemon serves: one desk, or one for each user.
@BrokerActor protocol Served: BrokerService {
    func connectionAppeared(_ connection: String, bootTimeMicroseconds: UInt64)
    func connectionGone(_ connection: String)
    func clockWasSet()
    func allowUnlockWithSession(_ isAllowed: Bool)
    /// Whose session it is, or nobody where all are meant.
    func sessionLocked(_ cause: LockCause, of userID: UInt32?)
    func sessionUnlocked(of userID: UInt32)
    func settle() async
    func isKnown(_ connection: String) -> Bool
    @discardableResult func reloadPolicy() async throws(Refusal) -> [String]
}

/// It hears of its own user's sessions alone.
extension Desk: Served {
    func sessionLocked(_ cause: LockCause, of userID: UInt32?) { sessionLocked(cause) }
    func sessionUnlocked(of userID: UInt32) { sessionUnlocked() }
}
extension Desks: Served {}
