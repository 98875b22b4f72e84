public import BrokerBus
public import BrokerDesk
@_spi(Wiring) internal import BrokerGate
internal import BrokerHost
internal import BrokerModel
internal import BrokerPeers
internal import BrokerPolicy
internal import BrokerVault
internal import SDBus
internal import Sodium

extension Desk: BrokerService {}

/// The rooms put together: what stands for the life of the process.
@BrokerActor final class Daemon {
    /// Why the daemon cannot run: lines for a person and sysexits' code.
    struct Failure: Error {
        let lines: [String]
        let status: Int32

        init(_ line: String, _ status: Int32) {
            lines = [line]
            self.status = status
        }

        init(_ errors: PolicyErrors) {
            lines = errors.lines
            status = ExitStatus.configuration
        }
    }

    private static var running: Daemon?

    private let log = Log()
    private let connection: Connection
    private let state: StateFolder
    private let fronts = Fronts()
    private let direct: DirectEndpoint
    private var front: BrokerFront?
    private var desk: Desk?
    private var registrations: [Registration] = []

    private init(connection: Connection, state: StateFolder) {
        self.connection = connection
        self.state = state
        direct = DirectEndpoint(fronts: fronts)
    }

    /// Reads everything that can be wrong, connects, owns the name, and only then opens the store: a call that
    /// comes meanwhile waits in the bus's queue.
    static func start(_ options: Options) async throws(Failure) {
        let loop = BrokerActor.shared.loop
        try watchSignals()
        guard !options.isSystem else {
            throw Failure(
                "--system is not in this version; run one broker for each user with --user", ExitStatus.usage)
        }
        let places = try Places(options)
        let configuration = try onConfiguration { () throws(PolicyErrors) in
            try Configuration.load(options.configuration)
        }
        let (policy, warnings) = try onConfiguration { () throws(PolicyErrors) in
            try places.policy.load(isSystem: options.isSystem)
        }
        let state = try onFiles { () throws(HostError) in try StateFolder(places.state) }
        let connection = try connect()
        let daemon = Daemon(connection: connection, state: state)
        running = daemon
        for warning in warnings { daemon.log.write(.warning, warning) }
        do throws(Failure) {
            if let socket = places.socket { try daemon.listen(socket) }
            try await daemon.serve(places, policy, configuration)
        } catch {
            daemon.direct.close()
            throw error
        }
        SystemdNotify.ready()
        daemon.log.write(.info, "chatelained \(Contract.version) serves \(Contract.name)")
        _ = loop.enableWatchdog()
    }

    private static func connect() throws(Failure) -> Connection {
        do throws(BusError) {
            return try Connection.openUser()
        } catch {
            throw Failure("no session bus can be reached: \(error.message)", ExitStatus.unavailable)
        }
    }

    private func serve(
        _ places: Places, _ policy: Policy, _ configuration: Configuration
    ) async throws(Failure) {
        let deviceKey = try loadDeviceKey(places.deviceKey)
        BusLog.sink = { [log] in log.write(.warning, $0) }
        let vault = makeVault(deviceKey)
        let desk = try makeDesk(vault, places, policy, hasDeviceKey: deviceKey != nil)
        self.desk = desk
        do throws(BusError) {
            let front = try BrokerFront(connection, service: desk, allowsPlain: configuration.allowsPlain)
            self.front = front
            fronts.serveBus(front)
            registrations.append(
                try connection.onDisconnect { Self.end("the bus is gone", ExitStatus.unavailable) })
            try await front.watchConnections(
                appeared: {
                    desk.connectionAppeared($0, bootTimeMicroseconds: BrokerActor.shared.loop.now(.boottime))
                }, gone: { desk.connectionGone($0) })
            try await connection.requestName(Contract.name)
        } catch .nameTaken {
            throw Failure("another broker owns \(Contract.name) on this bus", ExitStatus.unavailable)
        } catch {
            throw Failure("the bus refused the broker: \(error.message)", ExitStatus.unavailable)
        }
        openStore(vault, desk)
        try serveDirect(desk)
    }

    private func listen(_ socket: Places.Socket) throws(Failure) {
        try Self.onFiles { () throws(HostError) in try RuntimeFolder.prepare(for: socket.path) }
        do throws(ListenFailure) {
            try direct.listen(at: socket.path, mode: socket.mode)
        } catch {
            throw Failure("the direct endpoint \(socket.path) \(error.reason)", ExitStatus.unavailable)
        }
    }

    private func serveDirect(_ desk: Desk) throws(Failure) {
        let ownID = HostEnvironment.userID
        let rules = DirectEndpoint.Rules(
            allows: { $0 == ownID || $0 == 0 },
            appeared: {
                desk.connectionAppeared($0, bootTimeMicroseconds: BrokerActor.shared.loop.now(.boottime))
            }, gone: { desk.connectionGone($0) }, isKnown: { desk.isKnown($0) },
            report: { [log] in log.write(.warning, $0) })
        do throws(BusError) {
            try direct.serve(desk, rules)
        } catch {
            throw Failure("the direct endpoint cannot be served: \(error.message)", ExitStatus.systemError)
        }
    }

    // A store that does not open now is opened by the first call that comes when its cause is gone.
    private func openStore(_ vault: Vault, _ desk: Desk) {
        do throws(Refusal) {
            try vault.open()
        } catch {
            log.write(.error, error.text)
        }
        desk.startUpkeep()
        if !Secret.memoryIsLocked {
            log.write(
                .warning, "secret memory is not locked; raise LimitMEMLOCK= so that it cannot be swapped")
        }
    }

    private func makeVault(_ deviceKey: DeviceKey?) -> Vault {
        let loop = BrokerActor.shared.loop
        return Vault(
            folder: state.path, deviceKey: deviceKey,
            Vault.Surroundings(
                storeThread: WorkThread(name: "store"), derivationThread: WorkThread(name: "derivation"),
                now: { HostEnvironment.now }, tell: { [weak self] in self?.desk?.publish($0) },
                report: { [log] in log.report($0) },
                pause: { try? await loop.sleep(microseconds: $0) },
                breathe: { try? await loop.sleep(microseconds: 0) }))
    }

    private func makeDesk(
        _ vault: Vault, _ places: Places, _ policy: Policy, hasDeviceKey: Bool
    ) throws(Failure) -> Desk {
        let reference: ReferenceNamespaces
        do throws(Fault) {
            reference = try ReferenceNamespaces.current()
        } catch {
            throw Failure("the broker's own namespaces cannot be read: \(error)", ExitStatus.systemError)
        }
        let source = ProcessCredentials(
            bus: BusCredentials(connection), direct: direct, userID: HostEnvironment.userID)
        let policyThread = WorkThread(name: "policy")
        let peers = Peers(
            source: source, reader: PeerThreads(), reference: reference,
            memoryFile: places.runtime.map { ExecutableFile(folder: $0, worker: policyThread) })
        peers.refused = { [log] in log.recordUnidentified($0) }
        let outlet = Desk.Outlet(
            tell: { [weak fronts] in fronts?.tell($0, sequence: $1, to: $2) },
            propertiesChanged: { [weak fronts] in fronts?.propertiesChanged($0) },
            loadPolicy: { [log] () async throws(PolicyErrors) in
                let source = places.policy
                let loaded = try await policyThread.run {
                    Result { () throws(PolicyErrors) in try source.load(isSystem: false) }
                }.get()
                for warning in loaded.warnings { log.write(.warning, warning) }
                return loaded
            },
            now: { HostEnvironment.now },
            conditions: {
                (Secret.memoryIsLocked ? [] : [.memoryNotLocked]) + (hasDeviceKey ? [] : [.deviceKeyMissing])
            })
        return Desk(
            peers: peers, gate: Gate(policy: policy, userID: HostEnvironment.userID, audit: log),
            vault: vault, outlet: outlet, custodian: CustodianGrant())
    }

    // A store without its key is not given a new one, which could never open it.
    private func loadDeviceKey(_ path: String) throws(Failure) -> DeviceKey? {
        let hasStore = HostFile.exists(state.path + "/keychain.db")
        let bytes = try Self.onFiles { () throws(HostError) in
            try DeviceKeyFile.load(path, mayCreate: !hasStore)
        }
        guard let bytes else {
            log.write(.error, "the device key \(path) is missing, and the store cannot be opened without it")
            return nil
        }
        return DeviceKey(bytes, machineID: DeviceKeyFile.machineID())
    }

    /// Reads the policy anew, as SIGHUP asks.
    func reload() {
        SystemdNotify.reloading()
        BrokerActor.start { [log, desk] in
            do throws(Refusal) {
                try await desk?.reloadPolicy()
                log.write(.info, "the policy was read anew")
            } catch {
                log.write(.error, error.text)
            }
            SystemdNotify.ready()
        }
    }

    private static func watchSignals() throws(Failure) {
        let loop = BrokerActor.shared.loop
        do throws(BusError) {
            try loop.onSignal(15) { end(nil, 0) }
            try loop.onSignal(2) { end(nil, 0) }
            try loop.onSignal(1) { running?.reload() }
        } catch {
            throw Failure("signals cannot be watched: \(error.message)", ExitStatus.systemError)
        }
    }

    // Whatever was acknowledged is durable, so there is nothing to save on the way out.
    private static func end(_ reason: String?, _ status: Int32) {
        SystemdNotify.stopping()
        let daemon = running
        running = nil
        if let reason { daemon?.log.write(.error, reason) }
        daemon?.direct.close()
        daemon?.connection.flush()
        daemon?.connection.close()
        BrokerActor.start {
            await daemon?.log.drain()
            BrokerActor.shared.loop.stop(code: status)
        }
    }

    private static func onConfiguration<Value>(
        _ body: () throws(PolicyErrors) -> Value
    ) throws(Failure) -> Value {
        do throws(PolicyErrors) {
            return try body()
        } catch {
            throw Failure(error)
        }
    }

    private static func onFiles<Value: ~Copyable>(
        _ body: () throws(HostError) -> Value
    ) throws(Failure) -> Value {
        do throws(HostError) {
            return try body()
        } catch {
            throw Failure(error.description, ExitStatus.temporary)
        }
    }
}
