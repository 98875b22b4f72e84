internal import BrokerBus
internal import BrokerDesk
internal import BrokerHost
internal import BrokerModel
internal import BrokerPolicy
internal import BrokerSessions
internal import SDBus
internal import Sodium

/// What stands for the life of the process.
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

    private let log: Log
    let connection: Connection
    private let place: StorePlace
    private let fronts = Fronts()
    private let turns = PromptTurns()
    private let direct: DirectEndpoint
    private var front: BrokerFront?
    private var service: (any Served)?
    private(set) var secretService: SecretServiceOffer?
    private var sessions: SessionWatch?
    /// Opens the store, which is done once.
    var openStore: (() -> Void)?
    var registrations: [Registration] = []

    private init(connection: Connection, place: StorePlace, _ log: Log) {
        self.connection = connection
        self.place = place
        self.log = log
        direct = DirectEndpoint(fronts: fronts)
    }

    /// Reads everything that can be wrong, connects, owns a name, and only then opens the store: a call that comes
    /// meanwhile waits in the bus's queue.
    static func start(_ options: Options) async throws(Failure) {
        let loop = BrokerActor.shared.loop
        try watchSignals()
        let places = try Places(options)
        let configuration = try onConfiguration { () throws(PolicyErrors) in
            try Configuration.load(places.configuration)
        }
        let (policy, warnings) = try onConfiguration { () throws(PolicyErrors) in
            try places.policy.load(isSystem: options.isSystem)
        }
        let log = Log()
        let place = try onFiles { () throws(HostError) in
            try StorePlace(places, isSystem: options.isSystem, log)
        }
        let daemon = Daemon(connection: try connect(options.isSystem), place: place, log)
        running = daemon
        for warning in warnings { daemon.log.write(.warning, warning) }
        do throws(Failure) {
            if let socket = places.socket { try daemon.listen(socket) }
            try await daemon.serve(options, places, policy, configuration)
        } catch {
            daemon.direct.close()
            throw error
        }
        SystemdNotify.ready()
        daemon.log.write(.info, "chatelained \(Contract.version) serves \(Contract.name)")
        _ = loop.enableWatchdog()
    }

    private static func connect(_ isSystem: Bool) throws(Failure) -> Connection {
        do throws(BusError) {
            return try isSystem ? Connection.openSystem() : Connection.openUser()
        } catch {
            let bus = isSystem ? "system" : "session"
            throw Failure("no \(bus) bus can be reached: \(error.message)", ExitStatus.unavailable)
        }
    }

    private func serve(
        _ options: Options, _ places: Places, _ policy: Policy, _ configuration: Configuration
    ) async throws(Failure) {
        BusLog.sink = { [log] in log.write(.warning, $0) }
        let wiring = Wiring(
            isSystem: options.isSystem, places: places, connection: connection, fronts: fronts,
            direct: direct, log: log, place: place,
            turns: turns, configured: { [weak self] in await self?.apply($0) })
        if options.isSystem {
            // Who may listen in on the system's bus is root's to say.
            let desks = try wiring.desks(policy)
            desks.allowUnlockWithSession(configuration.unlocksWithSession)
            try await serve(desks, allowsPlain: true)
        } else {
            let (desk, open) = try wiring.desk(policy)
            desk.allowUnlockWithSession(configuration.unlocksWithSession)
            openStore = open
            place.wait(prepare: { [weak self] in await self?.readPolicyAnew() }, arrived: open)
            secretService = SecretServiceOffer(desk, on: connection, log, turns: turns) { [weak self] in
                self?.open()
            }
            try await serve(desk, allowsPlain: configuration.allowsPlain, configuration.secretService)
        }
        if !Secret.memoryIsLocked {
            log.write(
                .warning, "secret memory is not locked; raise LimitMEMLOCK= so that it cannot be swapped")
        }
        try serveDirect(options.isSystem)
        followSessions(options.isSystem, places.systemBus, configuration.lockOn)
    }

    private func apply(_ configuration: Configuration) async {
        sessions?.apply(configuration.lockOn)
        service?.allowUnlockWithSession(configuration.unlocksWithSession)
        await secretService?.apply(configuration.secretService)
    }

    // Nothing waits for it: a machine without logind, or a bus that is slow, is served all the same.
    private func followSessions(_ isSystem: Bool, _ systemBus: String, _ causes: Set<LockCause>) {
        guard let service else { return }
        let watch = SessionWatch(
            onlyUserID: isSystem ? nil : HostEnvironment.userID, causes: causes,
            SessionWatch.Outlet(
                locked: { service.sessionLocked($0, of: $1) },
                unlocked: { service.sessionUnlocked(of: $0) },
                settle: { await service.settle() },
                note: { [log] in log.write($0.isGood ? .info : .warning, $0.text) }))
        sessions = watch
        BrokerActor.start { [connection] in
            if isSystem {
                await watch.follow(on: connection)
            } else {
                await watch.followScreenSavers(on: connection)
                await watch.followApart(at: systemBus)
            }
        }
    }

    private func serve(
        _ service: any Served, allowsPlain: Bool, _ secretService: SecretServiceMode = .never
    ) async throws(Failure) {
        self.service = service
        do throws(BusError) {
            let front = try BrokerFront(connection, service: service, allowsPlain: allowsPlain)
            self.front = front
            fronts.serveBus(front)
            registrations.append(
                try connection.onDisconnect { Self.end("the bus is gone", ExitStatus.unavailable) })
            try await front.watchConnections(
                appeared: {
                    service.connectionAppeared(
                        $0, bootTimeMicroseconds: BrokerActor.shared.loop.now(.boottime))
                },
                gone: { [weak self] in
                    self?.secretService?.connectionGone($0)
                    service.connectionGone($0)
                })
            try await requestNames(secretService)
        } catch .nameTaken {
            throw Failure("another broker owns \(Contract.name) on this bus", ExitStatus.unavailable)
        } catch {
            throw Failure("the bus refused the broker: \(error.message)", ExitStatus.unavailable)
        }
    }

    private func listen(_ socket: Places.Socket) throws(Failure) {
        try Self.onFiles { () throws(HostError) in try RuntimeFolder.prepare(for: socket.path) }
        do throws(ListenFailure) {
            try direct.listen(at: socket.path, mode: socket.mode)
        } catch {
            throw Failure("the direct endpoint \(socket.path) \(error.reason)", ExitStatus.unavailable)
        }
    }

    private func serveDirect(_ isSystem: Bool) throws(Failure) {
        guard let service else { return }
        let ownID = HostEnvironment.userID
        let rules = DirectEndpoint.Rules(
            allows: { isSystem || $0 == ownID || $0 == 0 },
            appeared: {
                service.connectionAppeared($0, bootTimeMicroseconds: BrokerActor.shared.loop.now(.boottime))
            }, gone: { service.connectionGone($0) }, isKnown: { service.isKnown($0) },
            report: { [log] in log.write(.warning, $0) })
        do throws(BusError) {
            try direct.serve(service, rules)
        } catch {
            throw Failure("the direct endpoint cannot be served: \(error.message)", ExitStatus.systemError)
        }
    }

    /// Reads the policy anew, as SIGHUP asks.
    func reload() {
        SystemdNotify.reloading()
        BrokerActor.start {
            await self.readPolicyAnew()
            SystemdNotify.ready()
        }
    }

    private func readPolicyAnew() async {
        do throws(Refusal) {
            try await service?.reloadPolicy()
            log.write(.info, "the policy was read anew")
        } catch {
            log.write(.error, error.text)
        }
    }

    private static func watchSignals() throws(Failure) {
        let loop = BrokerActor.shared.loop
        do throws(BusError) {
            try loop.onSignal(15) { end(nil, 0) }
            try loop.onSignal(2) { end(nil, 0) }
            try loop.onSignal(1) { running?.reload() }
            try loop.onClockSet { running?.service?.clockWasSet() }
        } catch {
            throw Failure("signals and the clock cannot be watched: \(error.message)", ExitStatus.systemError)
        }
    }

    // Whatever was acknowledged is durable, so there is nothing to save on the way out.
    private static func end(_ reason: String?, _ status: Int32) {
        SystemdNotify.stopping()
        let daemon = running
        running = nil
        if let reason { daemon?.log.write(.error, reason) }
        daemon?.direct.close()
        daemon?.secretService?.close()
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
