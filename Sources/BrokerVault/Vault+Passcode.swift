public import BrokerGate
public import BrokerModel
internal import SQLite
public import Sodium

extension Vault {
    /// Wipes the foreground keys before it returns. Without a passcode `NotAvailable`. Before the first unlock
    /// there are none to wipe; an unlock that is under way then ends locked.
    public func lock(_ grant: borrowing ManagerGrant) throws(Refusal) {
        // Whoever locks by a call means more than the screen.
        forgetSession()
        if lockForeground() { return }
        guard try openStore().isPasscodeSet else { throw .noPasscode }
    }

    /// Opens the keybag with the passcode. `AuthFailed` after a pause that grows, and then nothing has
    /// changed. A lock that comes meanwhile wins.
    ///
    /// `since` is `locks` as it was when the call came, where it has waited before this.
    public func unlock(
        _ grant: borrowing ManagerGrant, _ passcode: SharedSecret, since locksAtCall: Int? = nil
    ) async throws(Refusal) {
        // From the call on, so that it is also overtaken while it waits for its turn.
        let locksBefore = locksAtCall ?? locks
        let isLogin = grant.holder == .root
        try await oneAttempt(grant.holder) { () throws(Refusal) in
            let store = try openStore()
            guard store.isPasscodeSet else { throw .noPasscode }
            let opened = try await open(store, passcode, isLogin: isLogin)
            try await takeKeys(opened, locksBefore)
            if isLogin { await loginSucceeded() }
            guard locks == locksBefore else {
                throw Refusal(.interactionNotAllowed, "The session was locked meanwhile; unlock it again.")
            }
            sealForSession(opened)
        }
    }

    /// Takes the keys of an opened keybag into memory, where no lock has come since.
    func takeKeys(_ opened: OpenedKeybag, _ locksBefore: Int) async throws(Refusal) {
        if state == .beforeFirstUnlock || state == .locked && locks == locksBefore && keepsCompletions {
            try await unlockInOneChange(opened, locksBefore)
        } else if state == .locked && locks == locksBefore {
            keyring.unlock(with: opened)
            surroundings.tell([.lockStateChanged(.unlocked)])
        }
    }

    // What waited for the keys ends in one change with the state that it waited in, so that none is left over: logouts
    // first, which win over the completions of refreshes.
    private func unlockInOneChange(_ opened: OpenedKeybag, _ locksBefore: Int) async throws(Refusal) {
        guard let deviceKey, let index = IndexKey(opened.indexKey.secret.duplicate()) else {
            throw .damagedKeybag
        }
        let adopt = {
            self.keepsCompletions = false
            self.keyring.unlock(with: opened)
            if self.locks != locksBefore { self.keyring.lock() }
            self.surroundings.tell([.lockStateChanged(self.state)])
        }
        try await write(adopt: adopt) { (store) throws(Refusal) in
            try stored { () throws(SQLiteError) in
                try self.carryOutPendingLogouts(store, deviceKey, index)
            }
            return ((), try self.applyCompletions(store, opened))
        }
    }

    /// Sets or changes the passcode; `old` has no bytes where none is set. Rows are not touched, and the
    /// state stays, unless a lock has come meanwhile. Returns when it is durable and the log holds no older wrapping.
    public func setPasscode(
        _ grant: borrowing ManagerGrant, old: SharedSecret, new: SharedSecret, since locksAtCall: Int? = nil
    ) async throws(Refusal) {
        guard new.secret.count > 0 else {
            throw .param("A passcode has at least one byte; RemovePasscode takes it away.")
        }
        let locksBefore = locksAtCall ?? locks
        try await oneAttempt(grant.holder) { () throws(Refusal) in
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
            let adopt = {
                store.adopt(slot)
                self.isInStep(store)
                guard isFirst else { return }
                self.keyring.unlock(with: opened)
                // A lock that came while there was no passcode yet found nothing that it could lock.
                if self.locks != locksBefore { self.wipeForeground() } else { self.sealForSession(opened) }
            }
            try await write(adopt: adopt) { (store) throws(Refusal) in
                try stored { () throws(SQLiteError) in
                    try store.writing.keybag.replace(by: slot)
                    try store.writing.keybag.renewPairs(for: opened)
                    try store.writing.keybag.note(outOfStep: false)
                }
                return ((), [])
            }
            await checkpoint()
        }
    }

    /// Takes the passcode away: the passcode-set class key and its items are destroyed, the other classes
    /// get new keys. Ends unlocked.
    public func removePasscode(
        _ grant: borrowing ManagerGrant, _ passcode: SharedSecret
    ) async throws(Refusal) {
        try await oneAttempt(grant.holder) { () throws(Refusal) in
            let store = try openStore()
            guard store.isPasscodeSet, let deviceKey else { throw .noPasscode }
            let opened = try await open(store, passcode)
            let rolled = opened.rolled(firstID: try await takeKeyIDs(4, store))
            let slotKey = KeybagSlot.Header.device.slotKey(derived: nil, deviceKey: deviceKey)
            let slot = KeybagSlot(header: .device, slotKey: slotKey, sealing: rolled)
            try await roll(opened, to: rolled, slot, deviceKey, store)
            await checkpoint()
        }
    }

    // A reader may meet a row between its commit and the adoption, so the keys are known before. Whatever is
    // written after the commit is sealed under the new keys.
    private func roll(
        _ opened: OpenedKeybag, to rolled: OpenedKeybag, _ slot: KeybagSlot, _ deviceKey: DeviceKey,
        _ store: Store
    ) async throws(Refusal) {
        guard let index = IndexKey(opened.indexKey.secret.duplicate()) else { throw .damagedKeybag }
        let recovery = rolled.recovery.flatMap { store.recovery?.resealed($0, sealing: rolled) }
        keyring.anticipate(rolled)
        store.anticipate(slot)
        let adopt = {
            let wasUnlocked = self.state == .unlocked
            store.adopt(slot)
            store.adopt(recovery: recovery)
            self.keepsCompletions = false
            self.forgetSession()
            self.keyring.unlock(with: rolled)
            if !wasUnlocked { self.surroundings.tell([.lockStateChanged(.unlocked)]) }
        }
        try await write(adopt: adopt) { (store) throws(Refusal) in
            try stored { () throws(SQLiteError) in
                try self.carryOutPendingLogouts(store, deviceKey, index)
            }
            let applied = try self.applyCompletions(store, opened)
            let notices = try stored { () throws(SQLiteError) in
                let notices = try ClassKeyRoll(store.writing, from: opened, to: rolled).run()
                try store.writing.keybag.replace(by: slot)
                try store.writing.keybag.renewPairs(for: rolled)
                try store.writing.keybag.replaceRecovery(by: recovery)
                return notices
            }
            return ((), applied + notices)
        }
    }

    func takeKeyIDs(_ count: UInt32, _ store: Store) async throws(Refusal) -> UInt32 {
        try await store.writer.write { () throws(Refusal) in
            (try stored { () throws(SQLiteError) in try store.writing.keybag.takeKeyIDs(count) }, [])
        }
    }

    // The wrong passcode and a damaged keybag are told apart by how many of the wrapped keys open.
    func open(
        _ store: Store, _ passcode: SharedSecret, isLogin: Bool = false
    ) async throws(Refusal) -> OpenedKeybag {
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
            // PAM holds up those who guess there, and a login's password that is another one is no guess.
            if isLogin { wasRefusedAtLogin = true } else { attempts.failed() }
            throw Refusal(.authFailed, "The passcode is wrong.")
        }
    }

    func slotKey(_ header: KeybagSlot.Header, _ passcode: SharedSecret) async throws(Refusal) -> Key {
        guard let deviceKey else { throw .damagedKeybag }
        guard case .passcode(let cost, let salt) = header else {
            return header.slotKey(derived: nil, deviceKey: deviceKey)
        }
        let derived = await surroundings.passcodeThread.run { () -> SharedSecret? in
            guard let key = Argon2id.derive(passcode.secret, salt: salt, cost: cost) else { return nil }
            return SharedSecret(key.bytes.duplicate())
        }
        guard let derived else {
            throw Refusal(.notAvailable, "There is no memory to derive the passcode's key; try again.")
        }
        return header.slotKey(derived: derived, deviceKey: deviceKey)
    }

    // A second guess is not tried while the first one's pause runs, unless an administrator makes it: a pause holds
    // up whoever it is for, and never the work on the keybag.
    func oneAttempt(
        _ holder: ManagerGrant.Holder, _ body: () async throws(Refusal) -> Void
    ) async throws(Refusal) {
        if holder == .user { await attempts.guesses.take() }
        defer { if holder == .user { attempts.guesses.pass() } }
        let (refusal, pause) = await work(body)
        if let pause { await surroundings.pause(pause) }
        if let refusal { throw refusal }
    }

    private func work(
        _ body: () async throws(Refusal) -> Void
    ) async -> (refusal: Refusal?, pause: UInt64?) {
        await attempts.work.take()
        defer { attempts.work.pass() }
        do throws(Refusal) {
            try await body()
            return (nil, nil)
        } catch {
            return (error, attempts.takePause())
        }
    }
}

extension Refusal {
    static let noPasscode = Refusal(
        .notAvailable, "No passcode is set, so the keychain is always unlocked; 'chatelaine passcode set'.")
    static let damagedKeybag = Refusal(.notAvailable, "The keybag is damaged; it was left as it is.")
}
