internal import BrokerBus
internal import BrokerDesk
internal import BrokerHost
internal import SDBus
internal import SecretServiceFront

/// The name `org.freedesktop.secrets`: taken, waited for or left alone, as the configuration says. The front is there for
/// as long as the name is this broker's.
@BrokerActor final class SecretServiceOffer {
    private let connection: Connection
    private let desk: SecretServiceDesk
    private let log: Log
    private let turns: PromptTurns
    private var front: SecretServiceFront?
    private var watch: Registration?
    private var isAskedFor = false
    /// Runs before the first call can come.
    private let acquired: () -> Void

    init(
        _ desk: Desk, on connection: Connection, _ log: Log, turns: PromptTurns,
        acquired: @escaping @BrokerActor () -> Void
    ) {
        self.desk = SecretServiceDesk(desk)
        self.connection = connection
        self.log = log
        self.turns = turns
        self.acquired = acquired
    }

    /// What is to become of the name.
    enum Decision {
        case take
        case wait
        case giveBack
    }

    /// Does as the configuration says from now on. What goes wrong is a line of the log: all else is served anyway.
    func apply(_ mode: SecretServiceMode) async { await carryOut(await decision(mode)) }

    /// What the configuration means, as things are.
    func decision(_ mode: SecretServiceMode) async -> Decision {
        do throws(BusError) {
            try await watchName()
            switch mode {
            case .never: return .giveBack
            case .always: return .wait
            case .alone: return try await isAnothers() ? .giveBack : .take
            }
        } catch {
            report(error)
            return .giveBack
        }
    }

    /// Asks the bus, before it waits for anything else.
    func carryOut(_ decision: Decision) async {
        do throws(BusError) {
            switch decision {
            case .take: try await take()
            case .wait: try await wait()
            case .giveBack: try await giveBack()
            }
        } catch .nameTaken {
            log.write(.info, "\(await owner()) has \(Self.name); existing programs go on using that")
        } catch {
            report(error)
        }
    }

    private func report(_ error: BusError) {
        log.write(.warning, "\(Self.name) cannot be served: \(error.message)")
    }

    func connectionGone(_ name: String) { front?.connectionGone(name) }

    func close() {
        front?.close()
        front = nil
    }

    private static var name: String { SecretServiceName.bus }

    private func giveBack() async throws(BusError) {
        guard isAskedFor else { return }
        isAskedFor = false
        try await connection.releaseName(Self.name)
    }

    private func wait() async throws(BusError) {
        isAskedFor = true
        if try await connection.queueForName(Self.name) { return }
        log.write(.warning, "\(await owner()) has \(Self.name); the broker takes it when that lets go")
    }

    private func take() async throws(BusError) {
        guard front == nil else { return }
        // Out of the line, where a mode before this has put it.
        try await giveBack()
        try await connection.requestName(Self.name)
        isAskedFor = true
    }

    // Whether the bus would start another keyring, by the file that is seen from here or by one that is not.
    private func isAnothers() async throws(BusError) -> Bool {
        let names = try await connection.callBus("ListActivatableNames").read([String].self)
        guard names.contains(Self.name) else { return false }
        let file = ActivationFile.all(for: Self.name).first
        if file?.startsBroker == true { return false }
        log.write(
            .info,
            "\(file?.path ?? "the bus") keeps \(Self.name) for another keyring; existing programs go on using that"
        )
        return true
    }

    private func owner() async -> String {
        let reply = try? await connection.callBus("GetConnectionUnixProcessID", Self.name)
        guard let id = try? reply?.read(UInt32.self) else { return "another keyring" }
        return HostProcess(id).description
    }

    // The bus tells of the name before it hands on the first call to it.
    private func watchName() async throws(BusError) {
        guard watch == nil else { return }
        let own = connection.uniqueName ?? ""
        watch = try await connection.onNameOwnerChanged(name: Self.name) { [weak self] _, old, new in
            if new == own { self?.serve() }
            if old == own { self?.end() }
        }
    }

    private func serve() {
        acquired()
        do throws(BusError) {
            front = try SecretServiceFront(
                connection, desk: desk, prompter: BusPrompter(connection, turns: turns))
            log.write(.info, "chatelained serves \(Self.name)")
        } catch {
            log.write(.error, "\(Self.name) cannot be served: \(error.message)")
            BrokerActor.start { try? await self.giveBack() }
        }
    }

    // Sessions and prompts are of the name that its clients called, and end with it.
    private func end() {
        close()
        log.write(.info, "chatelained serves \(Self.name) no more")
    }
}
