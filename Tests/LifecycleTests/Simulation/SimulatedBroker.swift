@_spi(Wiring) import BrokerGate
import BrokerModel
import BrokerPolicy
import SDBus
import SQLite
import Sodium
import TestKit
import Testing

@testable import BrokerDesk
@testable import BrokerPeers
@testable import BrokerVault

/// The broker's own rooms from the desk inwards, over a real file; only the bus, the kernel's word on processes and the
/// clocks are the simulation's.
@BrokerActor final class SimulatedBroker {
    private let time: VirtualTime
    private let folder: TemporaryFolder
    private let policy: Policy
    private let peers = SimulatedPeers()
    private var desk: Desk?
    private var pending: [(connection: String, call: any Endable)] = []
    private let switches: Switches
    /// What the broker draws for its pauses.
    var chance: () -> Double = { 0.5 }

    private static let policyText = """
        [Application org.example.Mail]
        Executable=/usr/bin/demo-mail
        AccessGroups=org.example.mail

        [Application org.example.Mail.Sync]
        Executable=/usr/bin/demo-sync
        AccessGroups=org.example.mail
        Role=background

        [Application org.example.Mail.Tool]
        Executable=/usr/bin/demo-inbox
        AccessGroups=org.example.mail

        [AccessGroup org.example.mail]
        RequireTrust=file
        """

    init(_ time: VirtualTime, _ switches: Switches) throws {
        self.time = time
        self.switches = switches
        folder = try TemporaryFolder()
        let environment = PolicyEnvironment(isSystem: false, group: { _ in nil }, user: { _ in nil })
        let file = PolicyFile(path: "policy.conf", contents: Array(Self.policyText.utf8), origin: .system)
        policy = try Policy.load([file], environment: environment).0
    }

    var isRunning: Bool { desk != nil }
    /// Which run of it this is.
    private(set) var number = 0

    /// Another process of the broker, over what the one before has stored.
    func start(_ connections: [String: String]) throws {
        let key = DeviceKey(
            Secret(copying: [UInt8](repeating: 7, count: 32).span), machineID: Array("machine".utf8))
        let publisher = Publisher()
        let vault = Vault(
            folder: folder.path, deviceKey: key,
            Vault.Surroundings(
                storeThread: InlineWorker(), derivationThread: InlineWorker(), passcodeThread: InlineWorker(),
                now: { [time] in time.wall }, tell: { publisher.desk?.publish($0) }, report: { _ in },
                pause: { [time] in await time.sleep($0) }, breathe: {}))
        let reception = Reception(
            peers: Peers(source: peers, reader: peers, reference: try ReferenceNamespaces.current()),
            policies: PolicyKeeper(policy) { [policy] in (policy, []) }, authority: nil)
        let desk = Desk(
            reception: reception, gate: Gate(policy: policy, userID: 1000, audit: NoAudit()), vault: vault,
            outlet: Desk.Outlet(
                tell: { _, _, _ in }, propertiesChanged: { _ in }, now: { [time] in time.wall },
                conditions: { [] }, locked: { _ in }, partedWays: {}),
            leases: LeaseClock(
                boot: Array("boot".utf8), now: { [time] in time.monotonic },
                timer: { [time] in VirtualTime.Timer(time.alarm(at: $0, $1)) }, chance: chance),
            person: NobodyThere(), custodian: CustodianGrant())
        publisher.desk = desk
        try vault.open()
        self.desk = desk
        number += 1
        for (connection, program) in connections { connect(connection, program) }
    }

    // The vault tells of commits before it knows a desk.
    private final class Publisher {
        weak var desk: Desk?
    }

    /// As `kill -9` and a lost bus name would: whoever waits for an answer learns that none will come.
    func stop() {
        desk = nil
        if switches.forgetsGrants { forgetGrants() }
        let ended = pending
        pending = []
        for one in ended { one.call.end(.brokerGone) }
    }

    private func forgetGrants() {
        do {
            let database = try Database(path: folder.entry("keychain.db"), mode: .readWrite)
            try database.execute("DELETE FROM refresh_grants")
        } catch {
            Issue.record("the grants are still there: \(error)")
        }
    }

    /// A process connects to the bus.
    func connect(_ connection: String, _ program: String) {
        peers.connect(connection, program)
        desk?.connectionAppeared(connection, bootTimeMicroseconds: time.monotonic)
    }

    /// A process is gone, and so is whatever it waited for.
    func disconnect(_ connection: String) {
        if !switches.keepsConnections { desk?.connectionGone(connection) }
        let ended = pending.filter { $0.connection == connection }
        pending.removeAll { $0.connection == connection }
        for one in ended { one.call.end(.killed) }
    }

    /// Makes a call over that connection.
    func call<Value>(
        _ connection: String,
        _ body: @escaping @BrokerActor (Desk, CallContext) throws(Refusal) -> Outcome<Value>
    ) async throws(CallFailure) -> Value {
        guard let desk else { throw .brokerGone }
        let answer = Pending<Value>()
        pending.append((connection, answer))
        BrokerActor.start {
            let context = CallContext(connection: connection, allowsInteraction: false)
            do throws(Refusal) {
                answer.finish(.success(try await body(desk, context).value()))
            } catch {
                answer.finish(.failure(.refused(error)))
            }
        }
        defer { pending.removeAll { $0.call === answer } }
        return try await answer.value()
    }
}

/// Nothing in a simulation asks a person.
struct NobodyThere: Person {
    func askForPasscode(_ question: PersonQuestion) async -> PersonAnswer { .unreachable }
    func askForFinger(_ question: PersonQuestion, of set: FingerSet?) async -> PersonAnswer { .unreachable }
    func enrolment() async -> Enrolment { .unreachable }
    func askForPresence(_ question: PersonQuestion) async -> PersonAnswer { .unreachable }
}
