internal import BrokerHost
internal import BrokerModel
internal import Chatelaine
internal import SDBus

/// What the doctor sees of the bus and of the broker on it.
@BrokerActor enum BrokerExamination {
    static func findings(_ context: Context) async -> [Finding] {
        let endpoint = context.invocation.endpoint
        let broker: Broker
        do throws(ChatelaineError) {
            broker = try Broker.connect(to: endpoint)
        } catch {
            let advice = "Log in to a session with a bus, or set DBUS_SESSION_BUS_ADDRESS."
            return [
                Finding("bus", .wrong, "\(endpoint.name) cannot be reached: \(error)", advice: advice)
            ]
        }
        let bus = Finding("bus", .good, "reached as \(broker.connection.uniqueName ?? "a peer")")
        return [bus, await processDescriptors(broker)] + (await ofBroker(broker, endpoint))
    }

    // The bus tells of us what it tells of everybody.
    private static func processDescriptors(_ broker: Broker) async -> Finding {
        let subject = "process descriptors"
        let own = await BusFacts.credentials(of: broker.connection.uniqueName ?? "", broker.connection)
        if own?.hasProcessFD == true {
            return Finding(subject, .good, "the bus pins each caller's process (ProcessFD)")
        }
        return Finding(
            subject, .absent, "the bus gives none; the broker finds callers by number and looks twice",
            advice: "dbus 1.16 and dbus-broker 37 give them.")
    }

    private static func ofBroker(_ broker: Broker, _ endpoint: Endpoint) async -> [Finding] {
        let status: Broker.Status
        do throws(ChatelaineError) {
            status = try await broker.status()
        } catch {
            return [
                Finding(
                    "broker", .wrong, "does not answer: \(error)",
                    advice:
                        "systemctl --user start chatelained; journalctl --user -t chatelained says why not.")
            ]
        }
        return [await owner(broker, endpoint, status), state(status)] + conditions(status)
    }

    private static func owner(
        _ broker: Broker, _ endpoint: Endpoint, _ status: Broker.Status
    ) async -> Finding {
        guard let owner = await BusFacts.brokerCredentials(broker.connection) else {
            return Finding("broker", .wrong, "the bus does not say who owns its name")
        }
        let program = BusFacts.programName(owner.processID)
        let detail =
            "version \(status.version), \(program), process \(owner.processID) of user \(owner.userID)"
        let expected = endpoint == .system ? 0 : HostEnvironment.userID
        guard owner.userID == expected else {
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
        case .deviceKeyMissing: "Put the key back; the store is left alone until then."
        case .policyRefused: "chatelaine policy check shows the errors."
        }
    }
}
