public import BrokerGate
public import BrokerModel
internal import SQLite
public import Sodium

extension Vault {
    /// Whether a recovery key opens what may leave the device; also where the device key is another one.
    public var isRecoveryKeySet: Bool {
        store.map { $0.recovery != nil } ?? stranded?.isRecoveryKeySet ?? false
    }

    /// Whether the store belongs to another device key than this machine's, so that the recovery key alone opens it.
    public var isStranded: Bool { stranded != nil }

    /// Makes a recovery key in the place of the one before, if there was one; the passcode has no bytes where none is
    /// set. Nothing is kept of the key itself. It works in every state and changes none.
    public func createRecoveryKey(
        _ grant: borrowing ManagerGrant, _ passcode: SharedSecret
    ) async throws(Refusal) -> RecoveryKey {
        let recoveryKey = RecoveryKey.random()
        try await oneAttempt(grant.holder) { () throws(Refusal) in
            let store = try openStore()
            var opened = try await open(store, passcode)
            let own = OpenedKeybag.RecoveryEntry(id: try await takeKeyIDs(1, store), key: .random())
            opened.recovery = own
            let header = RecoverySlot.Header.new()
            let key = try await derive(recoveryKey, header)
            let recovery = RecoverySlot(header: header, by: key, own, sealing: opened)
            try await rewrap(opened, passcode, recovery, store)
        }
        return recoveryKey
    }

    /// Takes the recovery key's slot away, so that it opens nothing any more. `NotAvailable` without one.
    public func removeRecoveryKey(
        _ grant: borrowing ManagerGrant, _ passcode: SharedSecret
    ) async throws(Refusal) {
        try await oneAttempt(grant.holder) { () throws(Refusal) in
            let store = try openStore()
            var opened = try await open(store, passcode)
            guard store.recovery != nil || opened.recovery != nil else { throw .noRecoveryKey }
            opened.recovery = nil
            try await rewrap(opened, passcode, nil, store)
        }
    }

    // The first slot wraps the recovery slot's own key, so that both are written in one change.
    private func rewrap(
        _ opened: OpenedKeybag, _ passcode: SharedSecret, _ recovery: RecoverySlot?, _ store: Store
    ) async throws(Refusal) {
        let header = store.slot.header
        let slot = KeybagSlot(
            header: header, slotKey: try await slotKey(header, passcode), sealing: opened)
        let adopt = {
            store.adopt(slot)
            store.adopt(recovery: recovery)
            self.keyring.note(rewrapped: opened)
        }
        try await write(adopt: adopt) { (store) throws(Refusal) in
            try stored { () throws(SQLiteError) in
                try store.writing.keybag.replace(by: slot)
                try store.writing.keybag.replaceRecovery(by: recovery)
            }
            return ((), [])
        }
        await checkpoint()
    }

    /// Derives what a recovery key opens its slot with.
    func derive(_ recoveryKey: RecoveryKey, _ header: RecoverySlot.Header) async throws(Refusal) -> Key {
        let derived = await surroundings.passcodeThread.run { () -> SharedSecret? in
            guard let key = header.key(of: recoveryKey) else { return nil }
            return SharedSecret(key.bytes.duplicate())
        }
        guard let derived, let key = Key(derived.secret.duplicate()) else {
            throw Refusal(.notAvailable, "There is no memory to derive the recovery key's key; try again.")
        }
        return key
    }
}

extension Refusal {
    static let noRecoveryKey = Refusal(
        .notAvailable, "This keychain has no recovery key; 'chatelaine recovery create' makes one.")
    static let noDeviceKey = Refusal(
        .notAvailable,
        "The device key of this keychain is missing; restore it and start the broker again. Without it the recovery key opens what may leave the device, once there is a new device key: see chatelained(8)."
    )
    static let foreignStore = Refusal(
        .notAvailable,
        "This keychain belongs to another device key; put that one back and start the broker again, or open what may leave the device by the recovery key: 'chatelaine recovery use'."
    )
}
