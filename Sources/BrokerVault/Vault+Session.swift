public import BrokerGate
internal import BrokerModel

extension Vault {
    /// Wipes the foreground keys for nobody's call: the person's session has locked, or has ended. They are gone when
    /// this returns, whether or not the store can be read; an unlock that is under way then ends locked. Returns whether
    /// there were any. Without a passcode the keychain is always unlocked, and stays so.
    public func lock(_ grant: borrowing CustodianGrant) -> Bool { lockForeground() }

    func lockForeground() -> Bool {
        locks += 1
        guard state == .unlocked, areKeysProtected else { return false }
        wipeForeground()
        return true
    }

    /// Comes back when the work on the keybag that was under way has ended, which has keys of its own in memory while it
    /// lasts. It waits for nobody's pause.
    public func settle() async {
        await attempts.work.take()
        attempts.work.pass()
    }

    func wipeForeground() {
        keyring.lock()
        surroundings.tell([.lockStateChanged(.locked)])
    }
}
