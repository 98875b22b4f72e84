public import BrokerModel
public import SDBus
public import Sodium

/// What stands behind the contract: one function for each method, in the model's terms. The bus room decodes,
/// calls and encodes, and knows nothing of what happens in between.
@BrokerActor public protocol BrokerService: AnyObject {
    func add(
        _ context: CallContext, _ attributes: WireDictionary, _ secret: SharedSecret
    ) throws(Refusal) -> Outcome<StoredItem>
    func store(
        _ context: CallContext, _ attributes: WireDictionary, _ secret: SharedSecret
    ) throws(Refusal) -> Outcome<StoredItem>
    func read(_ context: CallContext, _ query: WireDictionary) throws(Refusal) -> Outcome<ItemWithSecret>
    func readAll(_ context: CallContext, _ query: WireDictionary) throws(Refusal) -> Outcome<[ItemWithSecret]>
    func search(_ context: CallContext, _ query: WireDictionary) throws(Refusal) -> Outcome<[ItemAttributes]>
    func update(
        _ context: CallContext, _ query: WireDictionary, _ changes: WireDictionary, _ secret: SharedSecret?
    ) throws(Refusal) -> Outcome<UInt32>
    func delete(_ context: CallContext, _ query: WireDictionary) throws(Refusal) -> Outcome<UInt32>
    func logout(
        _ context: CallContext, group: String, service: String, reason: String
    ) throws(Refusal) -> Outcome<LogoutOutcome>

    func beginRefresh(
        _ context: CallContext, _ query: WireDictionary, stale: UInt64, timeoutMicroseconds: UInt64
    ) throws(Refusal) -> Outcome<RefreshStart>
    func completeRefresh(
        _ context: CallContext, fence: UInt64, _ changes: WireDictionary, _ secret: SharedSecret
    ) throws(Refusal) -> Outcome<UInt64>
    func failRefresh(
        _ context: CallContext, fence: UInt64, kind: String, message: String
    ) throws(Refusal) -> Outcome<Void>

    func subscribe(_ context: CallContext, groups: [String]) throws(Refusal) -> Outcome<Subscription>
    func unsubscribe(_ context: CallContext) throws(Refusal) -> Outcome<Void>
    func acknowledge(_ context: CallContext, group: String, epoch: UInt64) throws(Refusal) -> Outcome<Void>

    /// Whether there is a keychain for each user; then each has an object too, and properties are the asker's own.
    var servesAllUsers: Bool { get }
    /// The users whose objects are listed to the connection.
    func openKeychains(for connection: String) -> [UInt32]

    /// The manager's properties, for who asks; nil where the values go to everybody.
    func status(_ context: CallContext?) throws(Refusal) -> ManagerStatus
    func lock(_ context: CallContext) throws(Refusal) -> Outcome<Void>
    func unlock(_ context: CallContext, _ passcode: SharedSecret) throws(Refusal) -> Outcome<Void>
    func confirm(
        _ context: CallContext, cookie: UInt64, _ passcode: SharedSecret
    ) throws(Refusal) -> Outcome<Void>
    func followPasscode(_ context: CallContext, _ passcode: SharedSecret) throws(Refusal) -> Outcome<Void>
    func setPasscode(
        _ context: CallContext, old: SharedSecret, new: SharedSecret
    ) throws(Refusal) -> Outcome<Void>
    func removePasscode(_ context: CallContext, _ passcode: SharedSecret) throws(Refusal) -> Outcome<Void>
    func createRecoveryKey(
        _ context: CallContext, _ passcode: SharedSecret
    ) throws(Refusal) -> Outcome<SharedSecret>
    func removeRecoveryKey(_ context: CallContext, _ passcode: SharedSecret) throws(Refusal) -> Outcome<Void>
    func previewRecovery(_ context: CallContext) throws(Refusal) -> Outcome<RecoveryCount>
    func recover(
        _ context: CallContext, _ typed: SharedSecret, passcode: SharedSecret, accepting lost: UInt32
    ) throws(Refusal) -> Outcome<RecoveryCount>
    func forceLogout(
        _ context: CallContext, group: String, service: String, reason: String
    ) throws(Refusal) -> Outcome<LogoutOutcome>
    func moveItems(_ context: CallContext, from: String, to: String) throws(Refusal) -> Outcome<UInt32>
    func importItem(
        _ context: CallContext, group: String, mode: String, _ attributes: WireDictionary,
        _ secret: SharedSecret
    ) throws(Refusal) -> Outcome<Imported>
    func importSecret(
        _ context: CallContext, group: String, mode: String, collection: String,
        _ content: SecretItem.Content, _ secret: SharedSecret
    ) throws(Refusal) -> Outcome<Imported>
    func reloadPolicy(_ context: CallContext) throws(Refusal) -> Outcome<[String]>
    func listClients(_ context: CallContext) throws(Refusal) -> Outcome<[ClientRecord]>
    func explain(
        _ context: CallContext, target: String, group: String
    ) throws(Refusal) -> Outcome<ExplainRecord>
    func listGroups(_ context: CallContext) throws(Refusal) -> Outcome<[GroupRecord]>
    func check(_ context: CallContext) throws(Refusal) -> Outcome<CheckReport>
}
