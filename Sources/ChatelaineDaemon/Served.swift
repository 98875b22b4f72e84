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
    func isKnown(_ connection: String) -> Bool
    @discardableResult func reloadPolicy() async throws(Refusal) -> [String]
}

extension Desk: Served {}
extension Desks: Served {}
