public import BrokerGate
public import BrokerModel
internal import SQLite
public import Sodium

/// The passcode follows the password that the user logs in with, where the administrator has PAM bring that.
extension Vault {
    /// Whether the login's password is known to be another one than the passcode.
    public var isOutOfStep: Bool {
        guard let store, store.isPasscodeSet else { return false }
        return store.isOutOfStep || wasRefusedAtLogin
    }

    /// The user has a new password to log in with: it becomes the passcode, where a passcode is set and the keys are in
    /// memory, which is the proof that the old one was given. Else the keybag stays as it is, and that the two are out of
    /// step is kept; so it is for a password of no bytes, which is one that nobody knows here. It changes no state.
    /// Returns when it is durable.
    public func followPasscode(
        _ grant: borrowing ManagerGrant, _ passcode: SharedSecret
    ) async throws(Refusal) {
        try await oneAttempt(grant.holder) { () throws(Refusal) in
            let store = try openStore()
            guard store.isPasscodeSet else { throw .noPasscode }
            guard passcode.secret.count > 0 else { return try await keep(outOfStep: true) }
            // A file that came into the place of the one before may wrap other keys beside the classes'.
            if let opened = keyring.opened, opened.ids == store.slot.ids {
                try await wrap(opened, by: passcode, store)
            } else {
                try await compare(passcode, store)
            }
        }
    }

    private func wrap(
        _ opened: OpenedKeybag, by passcode: SharedSecret, _ store: Store
    ) async throws(Refusal) {
        let header = KeybagSlot.Header.newPasscode()
        let slot = KeybagSlot(
            header: header, slotKey: try await slotKey(header, passcode), sealing: opened)
        let adopt = {
            store.adopt(slot)
            self.isInStep(store)
        }
        try await write(adopt: adopt) { (store) throws(Refusal) in
            try stored { () throws(SQLiteError) in
                try store.writing.keybag.replace(by: slot)
                try store.writing.keybag.note(outOfStep: false)
            }
            return ((), [])
        }
        await checkpoint()
    }

    // The keys are not here to be wrapped. It is no guess, so that it owes no pause.
    private func compare(_ passcode: SharedSecret, _ store: Store) async throws(Refusal) {
        let slotKey = try await slotKey(store.slot.header, passcode)
        let isSame = (try? store.slot.open(with: slotKey)) != nil
        if isSame != !isOutOfStep { try await keep(outOfStep: !isSame) }
        guard isSame else {
            throw Refusal(
                .interactionNotAllowed,
                "The keychain is locked, so its passcode stays the old one; 'chatelaine passcode change' changes it."
            )
        }
    }

    /// The login's password has opened the keybag.
    func loginSucceeded() async {
        do throws(Refusal) {
            if isOutOfStep { try await keep(outOfStep: false) }
        } catch {
            surroundings.report(Fault("keep that the passcode is the login's again"))
        }
    }

    private func keep(outOfStep: Bool) async throws(Refusal) {
        try await write(
            adopt: {
                self.wasRefusedAtLogin = false
                self.store?.isOutOfStep = outOfStep
            },
            { (store) throws(Refusal) in
                try stored { () throws(SQLiteError) in try store.writing.keybag.note(outOfStep: outOfStep) }
                return ((), [])
            })
    }

    /// A passcode was set that is as good as the login's, as far as is known.
    func isInStep(_ store: Store) {
        wasRefusedAtLogin = false
        store.isOutOfStep = false
    }
}
