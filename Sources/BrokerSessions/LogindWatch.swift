internal import BrokerModel
internal import SDBus

/// Follows logind over one connection to the system's bus, through restarts of logind.
///
/// Any program can send this connection a signal that looks like logind's: only those of the owner of logind's name count.
@BrokerActor final class LogindWatch {
    private let connection: Connection
    private let ledger: SessionLedger
    private let outlet: SessionWatch.Outlet
    private let inhibitor = SleepInhibitor()
    private var owner: NameOwner?
    private var registrations: [Registration] = []
    private var monitor: LoginMonitor?
    /// Counts what logind has told, in all and of each session, so that an answer that was overtaken is asked for again.
    private var changes: UInt64 = 0
    private var changesOf: [String: UInt64] = [:]
    private var isAsleep = false
    private var isLooking = false
    private var looksAgain = false

    private static let attemptsMax = 8

    init(_ connection: Connection, _ ledger: SessionLedger, _ outlet: SessionWatch.Outlet) {
        self.connection = connection
        self.ledger = ledger
        self.outlet = outlet
    }

    /// Listens, and then asks how things are.
    func start() async throws(BusError) {
        try await listen(Logind.manager) { [weak self] in self?.managerTold($0) }
        try await listen(Logind.session) { [weak self] in self?.sessionTold($0) }
        try await listen(Logind.properties, of: Logind.session) { [weak self] in self?.propertiesTold($0) }
        owner = try await NameOwner.follow(Logind.name, on: connection) { [weak self] in
            self?.ownerChanged()
        }
        ownerChanged()
    }

    /// Takes the inhibitor or gives it up, as the causes have it.
    func causesChanged() {
        guard ledger.causes.contains(.sleep) else {
            _ = inhibitor.handOver()
            return
        }
        BrokerActor.start { await self.inhibit() }
    }

    private func listen(
        _ interface: String, of first: String? = nil,
        _ handler: @escaping @BrokerActor (borrowing ReceivedSignal) -> Void
    ) async throws(BusError) {
        registrations.append(
            try await connection.matchSignal(
                sender: Logind.name, interface: interface, firstArgument: first
            ) { [weak self] signal in
                guard let logind = self?.owner?.current, signal.sender == logind else { return }
                handler(signal)
            })
    }

    private var calls: LogindCalls? {
        owner?.current.map { LogindCalls(connection: connection, owner: $0) }
    }

    private func ownerChanged() {
        _ = inhibitor.handOver()
        isAsleep = false
        guard let calls else { return outlet.note(.noLogind) }
        // Its folder is there when it has the name.
        if monitor == nil { monitor = try? LoginMonitor { [weak self] in self?.lookSoon() } }
        BrokerActor.start { await self.readAll(calls) }
    }

    private func readAll(_ calls: LogindCalls) async {
        await inhibit()
        do throws(BusError) {
            if try await calls.isPreparingForSleep() { sleepBegins() }
            guard let all = try await sessions(calls) else { return }
            ledger.replace(by: all)
            outlet.note(.follows)
        } catch {
            if owner?.current == calls.owner { outlet.note(.unreadable(error.message)) }
        }
    }

    // Nil where another logind has come meanwhile, which is asked itself.
    private func sessions(_ calls: LogindCalls) async throws(BusError) -> [LoginSession]? {
        var all: [LoginSession] = []
        for _ in 0..<Self.attemptsMax {
            let before = changes
            all = []
            for path in try await calls.sessions() {
                if let session = await calls.session(path) { all.append(session) }
            }
            guard owner?.current == calls.owner, connection.isOpen else { return nil }
            if changes == before { break }
        }
        return all
    }

    private func managerTold(_ signal: borrowing ReceivedSignal) {
        switch signal.member {
        case "SessionNew":
            guard let path = sessionPath(signal) else { return }
            noteChange(path)
            read(path)
        case "SessionRemoved":
            guard let path = sessionPath(signal) else { return }
            noteChange(path)
            ledger.remove(path)
        case "PrepareForSleep":
            switch try? signal.read(Bool.self) {
            case true: sleepBegins()
            case false: sleepEnds()
            default: break
            }
        default: break
        }
    }

    private func noteChange(_ path: String) {
        changes += 1
        // Of a session that has gone nothing is kept once nobody asks for it.
        if !ledger.isReading { changesOf = [:] }
        changesOf[path, default: 0] += 1
    }

    private func sessionPath(_ signal: borrowing ReceivedSignal) -> String? {
        (try? signal.read(String.self, ObjectPath.self))?.1.value
    }

    private func sessionTold(_ signal: borrowing ReceivedSignal) {
        let (path, member) = (signal.path, signal.member)
        guard member == "Lock" || member == "Unlock" else { return }
        if ledger.signalled(path, locks: member == "Lock") { return }
        read(path) { [weak self] in _ = self?.ledger.signalled(path, locks: member == "Lock") }
    }

    private func propertiesTold(_ signal: borrowing ReceivedSignal) {
        let path = signal.path
        noteChange(path)
        guard var session = ledger.session(path),
            let isWhole = try? signal.withReader({ (reader) throws(BusError) in
                try session.change(&reader)
            }), isWhole
        else { return read(path) }
        ledger.update(session)
    }

    private func read(_ path: String, then: @escaping () -> Void = {}) {
        guard let calls else { return }
        ledger.beginReading()
        BrokerActor.start {
            var session: LoginSession?
            for _ in 0..<Self.attemptsMax {
                let before = self.changesOf[path]
                session = await calls.session(path)
                if self.changesOf[path] == before { break }
            }
            guard self.owner?.current == calls.owner, self.connection.isOpen else {
                return self.ledger.giveUpReading()
            }
            self.ledger.endReading(path, session)
            then()
        }
    }

    // A session whose person has logged out and left processes behind stays, and no signal says so.
    private func lookSoon() {
        looksAgain = true
        guard !isLooking else { return }
        isLooking = true
        BrokerActor.start {
            while self.looksAgain {
                self.looksAgain = false
                await self.look()
            }
            self.isLooking = false
        }
    }

    private func look() async {
        for path in ledger.openPaths {
            guard let calls else { return }
            ledger.beginReading()
            let before = changesOf[path]
            let session = await calls.session(path)
            ledger.giveUpReading()
            // What is gone, or has changed meanwhile, is told of by a signal.
            if let session, changesOf[path] == before { ledger.update(session) }
        }
    }
}

extension LogindWatch {
    // The keys are gone before this returns; only what was under way then is waited for.
    private func sleepBegins() {
        isAsleep = true
        let hold = inhibitor.handOver()
        ledger.sleeps()
        BrokerActor.start { [outlet] in
            await outlet.settle()
            withExtendedLifetime(hold) {}
        }
    }

    private func sleepEnds() {
        isAsleep = false
        BrokerActor.start { await self.inhibit() }
    }

    private func inhibit() async {
        guard let calls, !isAsleep, ledger.causes.contains(.sleep) else { return }
        do throws(BusError) {
            try await inhibitor.take(from: calls.owner, on: connection)
        } catch {
            if owner?.current == calls.owner { outlet.note(.noInhibitor(error.message)) }
        }
    }
}
