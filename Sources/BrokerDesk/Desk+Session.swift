public import BrokerModel
internal import BrokerVault
internal import SDBus

extension Desk {
    /// The person is not there any more: the foreground keys are wiped before this returns, whatever else is under way,
    /// and an unlock that is under way ends locked. Without a passcode nothing happens.
    public func sessionLocked(_ cause: LockCause) {
        if cause.endsSession { vault.forgetSession() }
        // Also where there is no key to wipe: whoever answered has left.
        challenges.locked()
        if upkeep.lock() { outlet.locked(cause) }
    }

    /// The person has unlocked the screen. That opens nothing, unless the administrator allows it; then it undoes what
    /// the session locked.
    public func sessionUnlocked() {
        guard vault.unlocksWithSession, vault.state == .locked else { return }
        // A lock that comes before the work begins wins too.
        let locks = vault.locks
        BrokerActor.start {
            await self.upkeep.unlock(since: locks)
            if self.vault.state == .unlocked { self.leaveUpkeep() }
        }
    }

    /// Whether an unlock of the session opens what it has locked.
    public func allowUnlockWithSession(_ isAllowed: Bool) { vault.unlocksWithSession = isAllowed }

    /// Comes back when work on the keybag that a lock has overtaken holds no keys any more.
    public func settle() async { await vault.settle() }
}

/// With `--system`: by the user whose session it is. A keychain that is not open has no keys in memory.
extension Desks {
    /// The person is not there any more, or, without a user, nobody is: see the desk's.
    public func sessionLocked(_ cause: LockCause, of userID: UInt32?) {
        if let userID {
            desks[userID]?.sessionLocked(cause)
        } else {
            for desk in desks.values { desk.sessionLocked(cause) }
        }
    }

    /// The person has unlocked the screen.
    public func sessionUnlocked(of userID: UInt32) { desks[userID]?.sessionUnlocked() }

    /// Whether an unlock of a session opens what it has locked, in the keychains that are open and those to come.
    public func allowUnlockWithSession(_ isAllowed: Bool) {
        unlocksWithSession = isAllowed
        for desk in desks.values { desk.allowUnlockWithSession(isAllowed) }
    }

    /// Comes back when no desk has work under way that a lock has overtaken.
    public func settle() async {
        for desk in desks.values { await desk.settle() }
    }
}
