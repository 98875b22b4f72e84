internal import BrokerModel
internal import SDBus

/// Keeps the sessions, and tells the broker what they mean for its keychains, as far as the administrator has it so.
@BrokerActor final class SessionLedger {
    private let outlet: SessionWatch.Outlet
    /// The one user whose keychain there is; nil where there are all users'.
    private let onlyUserID: UInt32?
    /// What locks.
    var causes: Set<LockCause>
    private var table = SessionTable()
    /// Sessions that are known by their names, and being read.
    private var beingRead = 0

    init(_ onlyUserID: UInt32?, _ causes: Set<LockCause>, _ outlet: SessionWatch.Outlet) {
        self.onlyUserID = onlyUserID
        self.causes = causes
        self.outlet = outlet
    }

    func session(_ path: String) -> LoginSession? { table.sessions[path] }

    /// The sessions that may come to an end without a signal.
    var openPaths: [String] {
        table.sessions.values.filter { $0.isOpen && concerns($0.userID) }.map(\.path)
    }

    var isReading: Bool { beingRead > 0 }

    func beginReading() { beingRead += 1 }

    /// What was read; nil where there is no such session any more.
    func endReading(_ path: String, _ session: LoginSession?) {
        beingRead -= 1
        guard let session else { return remove(path) }
        update(session)
    }

    /// Reading it has failed in a way that says nothing of the session.
    func giveUpReading() {
        beingRead -= 1
        tellGone()
    }

    func update(_ session: LoginSession) {
        tell(table.update(session))
        tellGone()
    }

    func remove(_ path: String) {
        table.remove(path)
        tellGone()
    }

    func replace(by all: [LoginSession]) {
        tell(table.replace(by: all))
        tellGone()
    }

    /// The session was told to lock or to unlock its screen. False where it is not known.
    func signalled(_ path: String, locks: Bool) -> Bool {
        guard let session = table.sessions[path] else { return false }
        tell(table.signalled(session, locks: locks))
        return true
    }

    /// The machine is about to sleep.
    func sleeps() {
        if causes.contains(.sleep) { outlet.locked(.sleep, onlyUserID) }
    }

    /// A screen saver of the one user's has begun; its desktop may tell logind of its lock, which then counts alone.
    func screenSaverBegan() {
        guard let onlyUserID, !table.tellsOfLocks(onlyUserID) else { return }
        tell([.locked(.screenSaver, onlyUserID)])
    }

    private func tellGone() {
        if beingRead == 0 { tell(table.takeGone()) }
    }

    private func concerns(_ userID: UInt32) -> Bool { onlyUserID.map { $0 == userID } ?? true }

    private func tell(_ events: [SessionTable.Event]) {
        for event in events {
            switch event {
            case .locked(let cause, let userID) where causes.contains(cause) && concerns(userID):
                outlet.locked(cause, userID)
            case .unlocked(let userID) where concerns(userID): outlet.unlocked(userID)
            default: break
            }
        }
    }
}
