public import BrokerGate
public import BrokerModel
internal import SQLite
public import Sodium

extension Vault {
    /// Wipes the foreground keys before it returns. Without a passcode `NotAvailable`; before the first unlock
    /// it does nothing.
    public func lock(_ grant: borrowing ManagerGrant) throws(Refusal) {
        guard try openStore().isPasscodeSet else { throw .noPasscode }
        locks += 1
        guard state == .unlocked else { return }
        keyring.lock()
        surroundings.tell([.lockStateChanged(.locked)])
    }

    /// Opens the keybag with the passcode. `AuthFailed` after a pause that grows, and then nothing has
    /// changed. A lock that comes meanwhile wins.
    public func unlock(_ grant: borrowing ManagerGrant, _ passcode: SharedSecret) async throws(Refusal) {
        try await oneAttempt { () throws(Refusal) in
            let store = try openStore()
            guard store.isPasscodeSet else { throw .noPasscode }
            let locksBefore = locks
            let opened = try await open(store, passcode)
            guard let deviceKey, let index = IndexKey(opened.indexKey.secret.duplicate()) else {
                throw .damagedKeybag
            }
            if state == .beforeFirstUnlock {
                try await carryOutPendingLogouts(store, deviceKey, index)
            } else if locks != locksBefore {
                throw Refusal(.interactionNotAllowed, "The session was locked meanwhile; unlock it again.")
            }
            guard state != .unlocked else { return }
            keyring.unlock(with: opened)
            surroundings.tell([.lockStateChanged(.unlocked)])
        }
    }

    /// Sets or changes the passcode; `old` has no bytes where none is set. Rows are not touched, and the
    /// state stays. Returns when it is durable and the log holds no older wrapping.
    public func setPasscode(
        _ grant: borrowing ManagerGrant, old: SharedSecret, new: SharedSecret
    ) async throws(Refusal) {
        guard new.secret.count > 0 else {
            throw .param("A passcode has at least one byte; RemovePasscode takes it away.")
        }
        try await oneAttempt { () throws(Refusal) in
            let store = try openStore()
            var opened = try await open(store, old)
            let isFirst = !store.isPasscodeSet
            if isFirst {
                let id = try await takeKeyIDs(1, store)
                opened = opened.addingPasscodeSetClass(id: id)
            }
            let header = KeybagSlot.Header.newPasscode()
            let slotKey = try await slotKey(header, new)
            let slot = KeybagSlot(header: header, slotKey: slotKey, sealing: opened)
            try await store.writer.write { () throws(Refusal) in
                try stored { () throws(SQLiteError) in
                    try store.writing.keybag.replace(by: slot)
                    try store.writing.keybag.renewPairs(for: opened)
                }
                return ((), [])
            }
            try adopt(slot, store)
            if isFirst && state == .unlocked { keyring.unlock(with: opened) }
            await checkpoint()
        }
    }

    /// Takes the passcode away: the passcode-set class key and its items are destroyed, the other classes
    /// get new keys. Ends unlocked.
    public func removePasscode(
        _ grant: borrowing ManagerGrant, _ passcode: SharedSecret
    ) async throws(Refusal) {
        try await oneAttempt { () throws(Refusal) in
            let store = try openStore()
            guard store.isPasscodeSet, let deviceKey else { throw .noPasscode }
            let opened = try await open(store, passcode)
            let rolled = opened.rolled(firstID: try await takeKeyIDs(4, store))
            let slotKey = KeybagSlot.Header.device.slotKey(derived: nil, deviceKey: deviceKey)
            let slot = KeybagSlot(header: .device, slotKey: slotKey, sealing: rolled)
            if state == .beforeFirstUnlock, let index = IndexKey(opened.indexKey.secret.duplicate()) {
                try await carryOutPendingLogouts(store, deviceKey, index)
            }
            try await store.writer.write { () throws(Refusal) in
                let notices = try stored { () throws(SQLiteError) in
                    try ClassKeyRoll(store.writing, from: opened, to: rolled).run()
                }
                try stored { () throws(SQLiteError) in
                    try store.writing.keybag.replace(by: slot)
                    try store.writing.keybag.renewPairs(for: rolled)
                }
                return ((), notices)
            }
            try adopt(slot, store)
            let wasUnlocked = state == .unlocked
            keyring.unlock(with: rolled)
            if !wasUnlocked { surroundings.tell([.lockStateChanged(.unlocked)]) }
            await checkpoint()
        }
    }

    private func adopt(_ slot: KeybagSlot, _ store: Store) throws(Refusal) {
        store.slot = slot
        keybagIdentity = try stored { () throws(SQLiteError) in try store.reading.keybag.identity() }
        store.accessibilities = try stored { () throws(SQLiteError) in
            try store.reading.keybag.accessibilities()
        }
    }

    private func takeKeyIDs(_ count: UInt32, _ store: Store) async throws(Refusal) -> UInt32 {
        try await store.writer.write { () throws(Refusal) in
            (try stored { () throws(SQLiteError) in try store.writing.keybag.takeKeyIDs(count) }, [])
        }
    }

    // The wrong passcode and a damaged keybag are told apart by how many of the wrapped keys open.
    private func open(_ store: Store, _ passcode: SharedSecret) async throws(Refusal) -> OpenedKeybag {
        if !store.isPasscodeSet && passcode.secret.count > 0 {
            throw Refusal(.authFailed, "No passcode is set; the old one has no bytes then.")
        }
        let slotKey = try await slotKey(store.slot.header, passcode)
        do throws(KeybagError) {
            let opened = try store.slot.open(with: slotKey)
            attempts.succeeded()
            return opened
        } catch .damaged {
            surroundings.report(Fault("open the keybag"))
            throw .damagedKeybag
        } catch {
            await surroundings.pause(attempts.pauseAfterFailure())
            throw Refusal(.authFailed, "The passcode is wrong.")
        }
    }

    private func slotKey(_ header: KeybagSlot.Header, _ passcode: SharedSecret) async throws(Refusal) -> Key {
        guard let deviceKey else { throw .damagedKeybag }
        guard case .passcode(let cost, let salt) = header else {
            return header.slotKey(derived: nil, deviceKey: deviceKey)
        }
        let derived = await surroundings.derivationThread.run { () -> SharedSecret? in
            guard let key = Argon2id.derive(passcode.secret, salt: salt, cost: cost) else { return nil }
            return SharedSecret(key.bytes.duplicate())
        }
        guard let derived else {
            throw Refusal(.notAvailable, "There is no memory to derive the passcode's key; try again.")
        }
        return header.slotKey(derived: derived, deviceKey: deviceKey)
    }

    // Attempts queue up: a second guess is not tried while the first one's pause runs.
    private func oneAttempt(_ body: () async throws(Refusal) -> Void) async throws(Refusal) {
        if isAttempting { await withCheckedContinuation { waitingAttempts.append($0) } }
        isAttempting = true
        defer {
            isAttempting = !waitingAttempts.isEmpty
            if isAttempting { waitingAttempts.removeFirst().resume() }
        }
        try await body()
    }
}

extension Refusal {
    static let noPasscode = Refusal(
        .notAvailable, "No passcode is set, so the keychain is always unlocked; 'chatelaine passcode set'.")
    static let damagedKeybag = Refusal(.notAvailable, "The keybag is damaged; it was left as it is.")
}
