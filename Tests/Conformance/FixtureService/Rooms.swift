internal import BrokerBus
internal import BrokerDesk
@_spi(Wiring) internal import BrokerGate
internal import BrokerHost
internal import BrokerModel
internal import BrokerPeers
internal import BrokerPolicy
internal import BrokerVault
internal import SDBus
internal import SecretServiceFront
internal import Sodium

/// Puts the broker's rooms together, as the daemon does, over an empty store.
@BrokerActor enum Rooms {
    // Test programs share what the fixture has.
    private static let policyText = "[SecretService]\nIsolation=none\n"

    /// A desk whose store is open. It has no passcode.
    static func desk(_ connection: Connection, _ folder: String) throws -> Desk {
        let environment = PolicyEnvironment(isSystem: false, group: { _ in nil }, user: { _ in nil })
        let file = PolicyFile(path: "fixture.conf", contents: Array(policyText.utf8), origin: .system)
        let policy = try Policy.load([file], environment: environment).0
        let publisher = Publisher()
        let vault = try vault(folder, publisher)
        let peers = Peers(
            source: BusCredentials(connection), reader: PeerThreads(),
            reference: try ReferenceNamespaces.current())
        let desk = Desk(
            reception: Reception(
                peers: peers, policies: PolicyKeeper(policy) { (policy, []) }, authority: nil),
            gate: Gate(policy: policy, userID: HostEnvironment.userID, audit: NoAudit()), vault: vault,
            outlet: Desk.Outlet(
                tell: { _, _, _ in }, propertiesChanged: { _ in }, now: { HostEnvironment.now },
                conditions: { [] }, locked: { _ in }, partedWays: {}),
            leases: .loop(boot: HostEnvironment.bootID), person: DistantPerson(),
            custodian: CustodianGrant())
        publisher.desk = desk
        try vault.open()
        return desk
    }

    private static func vault(_ folder: String, _ publisher: Publisher) throws -> Vault {
        let loop = BrokerActor.shared.loop
        let key = DeviceKey(Secret(copying: Random.bytes(32).span), machineID: DeviceKeyFile.machineID())
        return Vault(
            folder: folder, deviceKey: key,
            Vault.Surroundings(
                storeThread: WorkThread(name: "store"), derivationThread: WorkThread(name: "derivation"),
                passcodeThread: WorkThread(name: "passcode"), now: { HostEnvironment.now },
                tell: { publisher.desk?.publish($0) }, report: { _ in },
                pause: { try? await loop.sleep(microseconds: $0) },
                breathe: { try? await loop.sleep(microseconds: 0) }))
    }

    // The vault tells of commits before it knows a desk.
    private final class Publisher {
        weak var desk: Desk?
    }
}

/// Nobody reads what test programs did.
struct NoAudit: AuditSink {
    func record(_ entry: AuditEntry) {}
}

/// Nobody has to be asked where there is no passcode.
struct NoPrompter: Prompter {
    func isAvailable() async -> Bool { false }
    func ask(_ question: PromptQuestion) async -> Bool { false }
}
