internal import BrokerModel

/// The sessions of the machine, and what a change of theirs means for whose keychain.
struct SessionTable {
    /// What a keychain's owner is to hear of.
    enum Event: Equatable {
        case locked(LockCause, UInt32)
        case unlocked(UInt32)
    }

    private(set) var sessions: [String: LoginSession] = [:]
    /// Sessions that have said that they are locked, once: their desktops tell logind.
    private var telling: Set<String> = []
    /// Users without a session, as far as is known.
    private var gone: Set<UInt32> = []

    /// Whether the user has a session whose desktop tells logind of its locks.
    func tellsOfLocks(_ userID: UInt32) -> Bool {
        telling.contains { sessions[$0]?.userID == userID }
    }

    /// What logind says of a session now.
    mutating func update(_ session: LoginSession) -> [Event] {
        let old = sessions[session.path]
        sessions[session.path] = session
        var events: [Event] = []
        if session.isPersons && session.isLocked {
            telling.insert(session.path)
            if old?.isLocked != true { events.append(.locked(.sessionLock, session.userID)) }
        }
        if session.isActive && old?.isActive != true { events += seen(session) }
        if session.isOpen && !session.isLocked && old?.isLocked == true { events += unlocked(session) }
        if old?.isOpen == true && !session.isOpen { gone.insert(session.userID) }
        return events
    }

    /// The session was told to lock or to unlock its screen, which is a wish as far as the latter goes: a desktop that
    /// tells logind of its lock says itself when it has.
    func signalled(_ session: LoginSession, locks: Bool) -> [Event] {
        guard session.isPersons else { return [] }
        if locks { return [.locked(.sessionLock, session.userID)] }
        return telling.contains(session.path) ? [] : unlocked(session)
    }

    // Whoever has unlocked one screen may not be who locked another.
    private func unlocked(_ session: LoginSession) -> [Event] {
        let isStillLocked = sessions.values.contains {
            $0.userID == session.userID && $0.isPersons && $0.isLocked
        }
        return isStillLocked ? [] : [.unlocked(session.userID)]
    }

    /// The session has ended.
    mutating func remove(_ path: String) {
        telling.remove(path)
        guard let old = sessions.removeValue(forKey: path) else { return }
        if old.isOpen { gone.insert(old.userID) }
    }

    /// All that there are, where changes may have been missed: what is locked counts as locked just now, and who sits at a
    /// seat as having just come.
    mutating func replace(by all: [LoginSession]) -> [Event] {
        let known = Set(all.map(\.path))
        for path in Array(sessions.keys) where !known.contains(path) { remove(path) }
        for path in sessions.keys {
            if sessions[path]?.isActive == true { sessions[path]?.isActive = false }
        }
        // Whoever sits there counts, whichever was read first.
        var events: [Event] = []
        for session in all.sorted(by: { !$0.isActive && $1.isActive }) {
            if session.isLocked { sessions[session.path]?.isLocked = false }
            events += update(session)
        }
        return events
    }

    /// Whose last session has ended. Ask when no session is known by its name alone: it might be one of theirs.
    mutating func takeGone() -> [Event] {
        defer { gone = [] }
        let there = Set(sessions.values.lazy.filter(\.isOpen).map(\.userID))
        return gone.subtracting(there).sorted().map { .locked(.sessionEnd, $0) }
    }

    // Others who sit at the seat do not see their screens any more.
    private func seen(_ session: LoginSession) -> [Event] {
        guard !session.seat.isEmpty else { return [] }
        let others = sessions.values.filter {
            $0.isOpen && $0.seat == session.seat && $0.userID != session.userID
        }
        return Set(others.map(\.userID)).sorted().map { .locked(.seatSwitch, $0) }
    }
}
