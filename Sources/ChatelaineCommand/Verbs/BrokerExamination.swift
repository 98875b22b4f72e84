internal import BrokerHost
internal import BrokerModel
internal import Chatelaine
internal import SDBus

/// What the doctor sees of the bus and of the broker on it.
@BrokerActor struct BrokerExamination {
    /// What was seen.
    struct Sight {
        var findings: [Finding]
        /// Whether the bus tells the labels of connections; nil where there is no bus.
        var busGivesLabels: Bool?
        /// What the broker was started with, as far as that can be read.
        var arguments: [String] = []
    }

    static func look(_ context: Context) async -> Sight {
        let endpoint = context.invocation.endpoint
        let broker: Broker
        do throws(ChatelaineError) {
            broker = try Broker.connectToBus(endpoint)
        } catch {
            let advice = "Log in to a session with a bus, or set DBUS_SESSION_BUS_ADDRESS."
            let finding = Finding(
                "bus", .wrong, "\(endpoint.name) cannot be reached: \(error)", advice: advice)
            return Sight(findings: [finding])
        }
        let bus = Finding("bus", .good, "reached as \(broker.connection.uniqueName ?? "a peer")")
        // The bus tells of us what it tells of everybody.
        let own = await BusFacts.credentials(of: broker.connection.uniqueName ?? "", broker.connection)
        let examination = BrokerExamination(broker: broker, endpoint: endpoint, own: own)
        var sight = await examination.ofBroker()
        let secretService =
            endpoint == .system ? [] : await SecretServiceExamination.findings(broker.connection)
        sight.findings = [bus, examination.processDescriptors] + sight.findings + secretService
        sight.busGivesLabels = own?.hasLabel ?? false
        return sight
    }

    private let broker: Broker
    private let endpoint: Endpoint
    private let own: BusFacts.Credentials?

    private init(broker: Broker, endpoint: Endpoint, own: BusFacts.Credentials?) {
        self.broker = broker
        self.endpoint = endpoint
        self.own = own
    }

    private var processDescriptors: Finding {
        let subject = "process descriptors"
        if own?.hasProcessFD == true {
            return Finding(subject, .good, "the bus pins each caller's process (ProcessFD)")
        }
        return Finding(
            subject, .weak,
            "the bus gives none; callers are found by number, looked at twice, and worth file trust at most",
            advice: "dbus 1.16 and dbus-broker 37 give them; a number that is used again can deceive others.")
    }

    private func ofBroker() async -> Sight {
        let status: Broker.Status
        do throws(ChatelaineError) {
            status = try await broker.status()
        } catch {
            let advice = "systemctl --user start chatelained; journalctl --user -t chatelained says why not."
            let finding = Finding("broker", .wrong, "does not answer: \(error)", advice: advice)
            return Sight(findings: [finding])
        }
        let owner = await BusFacts.brokerCredentials(broker.connection)
        let findings = [whose(owner, status), Self.state(status)] + Self.conditions(status)
        let ways = [
            await EndpointExamination.oldConnections(broker, busPins: own?.hasProcessFD == true),
            EndpointExamination.socket(endpoint, owners: owners),
        ]
        return Sight(
            findings: findings + ways, arguments: owner.map { BusFacts.arguments($0.processID) } ?? [])
    }

    // The users that the broker may be of.
    private var owners: Set<UInt32> {
        guard endpoint == .system else { return [HostEnvironment.userID] }
        return [0, HostEnvironment.userID(named: "chatelaine") ?? 0]
    }

    private func whose(_ owner: BusFacts.Credentials?, _ status: Broker.Status) -> Finding {
        guard let owner else {
            return Finding("broker", .wrong, "the bus does not say who owns its name")
        }
        let program = BusFacts.programName(owner.processID)
        let detail =
            "version \(status.version), \(program), process \(owner.processID) of user \(owner.userID)"
        guard owners.contains(owner.userID) else {
            return Finding(
                "broker", .wrong, detail, advice: "It belongs to another user; give it no secret.")
        }
        return Finding("broker", .good, detail)
    }

    private static func state(_ status: Broker.Status) -> Finding {
        guard status.isPasscodeSet else {
            return Finding(
                "passcode", .absent, "\(status.state); the device key alone protects the store",
                advice: "chatelaine passcode set")
        }
        return Finding("passcode", .good, "set; the keychain is \(status.state)")
    }

    private static func conditions(_ status: Broker.Status) -> [Finding] {
        let known = Condition.allCases.compactMap { condition in
            status.conditions.contains(condition.rawValue)
                ? Finding(condition.subject, .wrong, condition.rawValue, advice: condition.advice)
                : condition.opposite.map { Finding(condition.subject, .good, $0) }
        }
        let others = status.conditions.filter { Condition(rawValue: $0) == nil }
        return known + others.map { Finding("condition", .wrong, $0, advice: "See chatelained(8).") }
    }
}

extension Condition {
    fileprivate var subject: String {
        switch self {
        case .memoryNotLocked: "memory locking"
        case .passcodeOutOfStep: "login passcode"
        case .waitingForStore: "store"
        case .deviceKeyMissing: "device key"
        case .policyRefused: "policy"
        }
    }

    /// What its absence says; nil where that is nothing worth a line.
    fileprivate var opposite: String? {
        switch self {
        case .memoryNotLocked: "secrets cannot reach the swap space"
        case .deviceKeyMissing: "present"
        case .policyRefused: "the broker took it whole"
        case .passcodeOutOfStep, .waitingForStore: nil
        }
    }

    fileprivate var advice: String {
        switch self {
        case .memoryNotLocked: "Raise LimitMEMLOCK= of chatelained.service, and start it again."
        case .passcodeOutOfStep: "chatelaine passcode change"
        case .waitingForStore: "Mount what the state directory is on."
        case .deviceKeyMissing:
            "Put the key back; the store is left alone until then. Without it: chatelaine recovery use."
        case .policyRefused: "chatelaine policy check shows the errors."
        }
    }
}
