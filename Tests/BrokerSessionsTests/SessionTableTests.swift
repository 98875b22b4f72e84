import BrokerModel
import Testing

@testable import BrokerSessions

/// What a change of sessions means for whose keychain.
@Suite struct SessionTableTests {
    private var table = SessionTable()

    private func session(
        _ path: String, of userID: UInt32 = 1, class name: String = "user", seat: String = "",
        locked: Bool = false, active: Bool = false, closing: Bool = false
    ) -> LoginSession {
        LoginSession(
            path: path, userID: userID, isPersons: LoginSession.isPersons(class: name), seat: seat,
            isLocked: locked, isActive: active, isClosing: closing)
    }

    @Test mutating func aHintIsToldWhenItChanges() {
        #expect(table.update(session("a")).isEmpty)
        #expect(table.update(session("a", locked: true)) == [.locked(.sessionLock, 1)])
        #expect(table.update(session("a", locked: true)).isEmpty)
        #expect(table.update(session("a")) == [.unlocked(1)])
        #expect(table.update(session("new", locked: true)) == [.locked(.sessionLock, 1)])
    }

    @Test(arguments: ["greeter", "lock-screen", "background", "background-light", "manager", "manager-early"])
    func otherClassesNeitherLockNorKeepOpen(class name: String) {
        var table = SessionTable()
        _ = table.update(session("a"))
        #expect(table.update(session("b", class: name, locked: true)).isEmpty)
        #expect(table.update(session("b", class: name)).isEmpty)
        table.remove("a")
        #expect(table.takeGone() == [.locked(.sessionEnd, 1)])
    }

    @Test(arguments: ["user", "user-early", "user-light", "user-incomplete"])
    func aPersonsSessionKeepsOpen(class name: String) {
        var table = SessionTable()
        _ = table.update(session("a"))
        _ = table.update(session("b", class: name))
        table.remove("a")
        #expect(table.takeGone().isEmpty)
        table.remove("b")
        #expect(table.takeGone() == [.locked(.sessionEnd, 1)] && table.takeGone().isEmpty)
    }

    /// Processes that were left behind keep a session, and nobody is there.
    @Test mutating func aSessionThatOnlyItsProcessesKeepHasEnded() {
        _ = table.update(session("a"))
        _ = table.update(session("other", of: 2))
        _ = table.update(session("a", closing: true))
        #expect(table.takeGone() == [.locked(.sessionEnd, 1)])
        table.remove("a")
        #expect(table.takeGone().isEmpty)
    }

    @Test mutating func aNewSessionMayHaveComeBeforeTheOldOneIsMissed() {
        _ = table.update(session("a"))
        table.remove("a")
        _ = table.update(session("b"))
        #expect(table.takeGone().isEmpty)
    }

    @Test mutating func whoeverIsSeenAtASeatLocksTheOthersOfThatSeat() {
        _ = table.update(session("alice", of: 1, seat: "seat0", active: true))
        _ = table.update(session("alice-remote", of: 1))
        _ = table.update(session("carol", of: 3, seat: "seat1", active: true))
        #expect(
            table.update(session("bob", of: 2, seat: "seat0", active: true)) == [.locked(.seatSwitch, 1)])
        _ = table.update(session("alice", of: 1, seat: "seat0"))
        #expect(
            table.update(session("alice", of: 1, seat: "seat0", active: true)) == [.locked(.seatSwitch, 2)])
        let second = session("alice-2", of: 1, seat: "seat0", active: true)
        #expect(table.update(second) == [.locked(.seatSwitch, 2)])
        let greeter = session("greeter", of: 9, class: "greeter", seat: "seat0", active: true)
        #expect(table.update(greeter) == [.locked(.seatSwitch, 1), .locked(.seatSwitch, 2)])
    }

    /// Any program of the user can have logind send that signal.
    @Test mutating func aWordToUnlockIsNoUnlockedScreen() {
        let (desktop, remote) = (session("desktop", locked: true), session("remote"))
        _ = table.update(remote)
        #expect(table.signalled(remote, locks: false) == [.unlocked(1)])
        _ = table.update(desktop)
        #expect(table.signalled(desktop, locks: false).isEmpty)
        #expect(table.signalled(remote, locks: false).isEmpty)
        #expect(table.signalled(remote, locks: true) == [.locked(.sessionLock, 1)])
        _ = table.update(session("remote", locked: true))
        #expect(table.update(remote).isEmpty)
        #expect(table.update(session("desktop")) == [.unlocked(1)])
        #expect(table.signalled(session("g", class: "greeter"), locks: true).isEmpty)
    }

    /// logind was away: whatever is locked now counts, and so does whoever went meanwhile.
    @Test mutating func whatWasMissedIsMadeUpFor() {
        _ = table.update(session("a", of: 1, locked: true))
        _ = table.update(session("b", of: 2))
        _ = table.update(session("c", of: 3))
        _ = table.update(session("d", of: 4, seat: "seat0", active: true))
        let events = table.replace(by: [
            session("a", of: 1, locked: true), session("c", of: 3, locked: true),
            session("e", of: 5, seat: "seat0", active: true), session("d", of: 4, seat: "seat0"),
        ])
        #expect(
            events == [.locked(.sessionLock, 1), .locked(.sessionLock, 3), .locked(.seatSwitch, 4)])
        #expect(table.takeGone() == [.locked(.sessionEnd, 2)])
        #expect(table.replace(by: [session("a", of: 1)]).contains(.unlocked(1)))
    }

    @Test mutating func aDesktopThatOnceToldLogindIsKnownByThat() {
        _ = table.update(session("a"))
        #expect(!table.tellsOfLocks(1))
        _ = table.update(session("a", locked: true))
        _ = table.update(session("a"))
        #expect(table.tellsOfLocks(1) && !table.tellsOfLocks(2))
        table.remove("a")
        #expect(!table.tellsOfLocks(1))
    }

    @Test func theWordsOfLockOn() {
        let three = LockCause.set(from: "session-lock sleep\tseat-switch")
        #expect(three == [.sessionLock, .sleep, .seatSwitch])
        #expect(LockCause.set(from: "session-end  screen-saver") == [.sessionEnd, .screenSaver])
        #expect(LockCause.set(from: "none") == [])
        for wrong in ["sleep none", "Sleep", "suspend", "sleep,session-lock"] {
            #expect(LockCause.set(from: wrong) == nil)
        }
    }
}
