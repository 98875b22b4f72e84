internal import BrokerHost
internal import SDBus

/// Who has `org.freedesktop.secrets`, how it came by it, and who would be started for it.
@BrokerActor struct SecretServiceExamination {
    static let name = "org.freedesktop.secrets"

    /// Unique names in line, the owner first.
    private let queue: [String]
    /// The broker's unique name; nil where none runs.
    private let broker: String?
    private let owner: HostProcess?
    private let next: HostProcess?
    private let files: [ActivationFile]
    private let isActivatable: Bool

    static func findings(_ connection: Connection) async -> [Finding] {
        await SecretServiceExamination(connection).findings
    }

    private init(_ connection: Connection) async {
        queue = (try? await connection.callBus("ListQueuedOwners", Self.name).read([String].self)) ?? []
        broker = await BusFacts.owner(connection)
        owner = await Self.process(queue.first, connection)
        next = await Self.process(queue.dropFirst().first, connection)
        files = ActivationFile.all(for: Self.name)
        let activatable = try? await connection.callBus("ListActivatableNames").read([String].self)
        isActivatable = activatable?.contains(Self.name) ?? false
    }

    private static func process(_ name: String?, _ connection: Connection) async -> HostProcess? {
        guard let name, let found = await BusFacts.credentials(of: name, connection) else { return nil }
        return HostProcess(found.processID)
    }

    private var findings: [Finding] {
        [ownership, activation, OtherKeyrings.finding(isWanted: isWanted), portal]
    }

    private var isBrokers: Bool { broker != nil && queue.first == broker }

    // Whether the broker has the name, or would.
    private var isWanted: Bool { broker.map(queue.contains) ?? false }

    private var ownership: Finding {
        let subject = "secret service"
        guard let owner else {
            return Finding(
                subject, .absent, "nobody has \(Self.name)", advice: "chatelaine secret-service on")
        }
        if isBrokers {
            let behind = next.map { "; next in line is \($0)" } ?? ""
            return Finding(subject, .good, "the broker has \(Self.name), \(owner)\(behind)")
        }
        guard isWanted else {
            return Finding(
                subject, .absent, "\(owner) has \(Self.name); existing programs keep their secrets there",
                advice: "chatelaine secret-service on takes it over.")
        }
        let end = owner.unit.map { "systemctl --user stop \($0)" } ?? "kill \(owner.id)"
        return Finding(
            subject, .weak, "\(owner) has \(Self.name); the broker takes it when that lets go",
            advice: "Log out and in again, or end it: \(end)")
    }

    private var activation: Finding {
        let subject = "activation"
        guard let file = files.first else {
            return isActivatable
                ? Finding(
                    subject, .weak, "the bus starts somebody for \(Self.name) by a file not seen from here")
                : Finding(subject, .absent, "no file has the bus start anybody for \(Self.name)")
        }
        let behind = files.dropFirst().map(\.path)
        let what = file.unit.isEmpty ? file.command : file.unit
        let detail =
            "\(file.path) starts \(what)"
            + (behind.isEmpty ? "" : ", and hides \(behind.joined(separator: ", "))")
        if !isActivatable {
            return Finding(
                subject, .weak, detail + "; the bus has not read it", advice: "Log out and in again.")
        }
        if file.startsBroker { return Finding(subject, .good, detail) }
        return isWanted
            ? Finding(subject, .weak, detail, advice: "chatelaine secret-service on")
            : Finding(subject, .absent, detail)
    }

    private var portal: Finding {
        let subject = "secret portal"
        let path = "/usr/share/xdg-desktop-portal/portals/chatelaine.portal"
        guard HostFile.exists(path) else {
            return Finding(subject, .absent, "there is no \(path)")
        }
        guard let file = PortalPreference.file else {
            return Finding(
                subject, .absent, "\(path) is there; no portals.conf prefers it",
                advice: "From xdg-desktop-portal 1.17 on, portals.conf decides; see chatelained(8).")
        }
        return Finding(subject, .good, "\(file) prefers chatelaine.portal")
    }
}
