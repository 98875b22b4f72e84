public import BrokerModel
internal import SDBus

extension Desk {
    /// The person is not there any more: the foreground keys are wiped before this returns, whatever else is under way,
    /// and an unlock that is under way ends locked. Without a passcode nothing happens.
    public func sessionLocked(_ cause: LockCause) {
        if upkeep.lock() { outlet.locked(cause) }
    }

    /// The person has unlocked the screen. That opens nothing by itself: a passcode does.
    public func sessionUnlocked() {}

    /// Comes back when work on the keybag that a lock has overtaken holds no keys any more.
    public func settle() async { await upkeep.settle() }
}

/// With `--system`: by the user whose session it is. A keychain that is not open has no keys in memory.
extension Desks {
    /// The person is not there any more: see the desk's.
    public func sessionLocked(_ cause: LockCause, of userID: UInt32) {
        desks[userID]?.sessionLocked(cause)
    }

    /// The person has unlocked the screen.
    public func sessionUnlocked(of userID: UInt32) { desks[userID]?.sessionUnlocked() }
}
