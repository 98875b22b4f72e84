public import BrokerModel
public import SDBus

/// Says when the people whose keychains there are lock their sessions, leave, or come back.
@BrokerActor public final class SessionWatch {
    /// What is told, at once where it happens.
    public struct Outlet {
        let locked: (_ cause: LockCause, _ userID: UInt32?) -> Void
        let unlocked: (_ userID: UInt32) -> Void
        let settle: () async -> Void
        private(set) var note: (Note) -> Void

        /// `locked` names whose session it is, or nobody where it is about all; the keys must be gone when it returns.
        /// `settle` comes back when what was under way then holds none either: the machine sleeps after it.
        public init(
            locked: @escaping (LockCause, UInt32?) -> Void, unlocked: @escaping (UInt32) -> Void,
            settle: @escaping () async -> Void, note: @escaping (Note) -> Void
        ) {
            self.locked = locked
            self.unlocked = unlocked
            self.settle = settle
            self.note = note
        }

        /// What is still so is not said again.
        mutating func saysOnce() {
            var last: Note?
            note = { [note] new in
                if new != last { note(new) }
                last = new
            }
        }
    }

    private let ledger: SessionLedger
    private let outlet: Outlet
    private var logind: LogindWatch?
    private var screenSavers: ScreenSavers?
    /// The connection of one's own, where there is one.
    private var connection: Connection?
    private var loss: Registration?
    private var retry: Timer?
    private var delayMicroseconds = firstDelayMicroseconds

    private static let firstDelayMicroseconds: UInt64 = 1_000_000
    private static let lastDelayMicroseconds: UInt64 = 60_000_000

    /// For one user's keychain, or for all users'. `causes` are what locks.
    public init(onlyUserID: UInt32?, causes: Set<LockCause>, _ outlet: Outlet) {
        var outlet = outlet
        outlet.saysOnce()
        self.outlet = outlet
        ledger = SessionLedger(onlyUserID, causes, outlet)
    }

    /// Follows logind on the system's bus that the broker is on anyway.
    public func follow(on connection: Connection) async {
        let watch = LogindWatch(connection, ledger, outlet)
        logind = watch
        do throws(BusError) {
            try await watch.start()
        } catch {
            outlet.note(.unreadable(error.message))
        }
    }

    /// Follows logind over a connection of its own to the system's bus at that address, for as long as it takes to get
    /// one, and again when it is lost. The address must come from where no other program of the user can put it.
    public func followApart(at address: String) async {
        retry = nil
        do throws(BusError) {
            let connection = try Connection.begin(address: address)
            self.connection = connection
            loss = try connection.onDisconnect { [weak self] in self?.lost(address) }
            let watch = LogindWatch(connection, ledger, outlet)
            logind = watch
            try await watch.start()
            delayMicroseconds = Self.firstDelayMicroseconds
        } catch {
            outlet.note(.noSystemBus(error.message))
            tryAgain(address)
        }
    }

    /// Follows the screen savers of the bus of the one user's session.
    public func followScreenSavers(on connection: Connection) async {
        let savers = ScreenSavers { [ledger] in ledger.screenSaverBegan() }
        screenSavers = savers
        do throws(BusError) {
            try await savers.start(on: connection)
        } catch {
            outlet.note(.unreadable(error.message))
        }
    }

    /// What locks from now on.
    public func apply(_ causes: Set<LockCause>) {
        ledger.causes = causes
        logind?.causesChanged()
    }

    private func lost(_ address: String) {
        outlet.note(.noSystemBus("it has closed the connection"))
        tryAgain(address)
    }

    private func tryAgain(_ address: String) {
        logind = nil
        loss = nil
        connection?.close()
        connection = nil
        guard retry == nil else { return }
        let loop = BrokerActor.shared.loop
        retry = loop.timer(at: loop.now() + delayMicroseconds) { [weak self] in
            BrokerActor.start { await self?.followApart(at: address) }
        }
        delayMicroseconds = min(delayMicroseconds * 2, Self.lastDelayMicroseconds)
    }
}
