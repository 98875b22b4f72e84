public import BrokerGate
public import BrokerModel
internal import SQLite
public import Sodium

extension Vault {
    /// What a recovery would keep and lose now. It needs no key: what a row's class is stands in clear.
    public func previewRecovery(_ grant: borrowing ManagerGrant) throws(Refusal) -> RecoveryCount {
        let store = try fileToRecover()
        guard store.recovery != nil else { throw .noRecoveryKey }
        let loss = loss(store, hasPasscode: true)
        return try stored { () throws(SQLiteError) in try loss.count(store.reading) }
    }

    /// Opens the keybag by the recovery key, and wraps it by a new passcode and the device key that is there now; a
    /// passcode without bytes is none. What may not leave its device is deleted in the same change, unless its class key
    /// is in memory. Of that there must be no more than `accepted` items: else `Param`, and nothing has changed. Ends
    /// unlocked; a lock that comes meanwhile wins.
    public func recover(
        _ grant: borrowing ManagerGrant, _ recoveryKey: RecoveryKey, passcode: SharedSecret,
        accepting accepted: UInt32, since locksAtCall: Int? = nil
    ) async throws(Refusal) -> RecoveryCount {
        // From the call on, so that it is also overtaken while it waits for its turn.
        let locksBefore = locksAtCall ?? locks
        var count = RecoveryCount()
        try await oneAttempt(grant.holder) { () throws(Refusal) in
            let store = try fileToRecover()
            guard let deviceKey else { throw .noDeviceKey }
            guard let slot = store.recovery else { throw .noRecoveryKey }
            let recovered = try await open(slot, recoveryKey, store)
            let hasPasscode = passcode.secret.count > 0
            let firstID = try await takeKeyIDs(UInt32(Accessibility.allCases.count), store)
            let renewed = recovered.completed(firstID: firstID, hasPasscode: hasPasscode)
            let header = hasPasscode ? KeybagSlot.Header.newPasscode() : .device
            let replacement = KeybagSlot(
                header: header, slotKey: try await slotKey(header, passcode), sealing: renewed)
            count = try await replace(
                Recovery(
                    recovered: recovered, renewed: renewed, slot: replacement, hasPasscode: hasPasscode,
                    accepted: accepted, locksBefore: locksBefore), store, deviceKey)
            await checkpoint()
        }
        return count
    }

    private func fileToRecover() throws(Refusal) -> Store {
        if let store { return store }
        let opened = try openFile()
        // One's own is everybody's: a second writer would commit beside the change of keys. A damaged keybag stays apart.
        if let deviceKey, opened.isOwn { try? take(opened, deviceKey) }
        return opened
    }

    private struct Recovery {
        let recovered: OpenedKeybag
        let renewed: OpenedKeybag
        let slot: KeybagSlot
        let hasPasscode: Bool
        let accepted: UInt32
        let locksBefore: Int
    }

    private func replace(
        _ recovery: Recovery, _ store: Store, _ deviceKey: DeviceKey
    ) async throws(Refusal) -> RecoveryCount {
        guard let index = IndexKey(recovery.recovered.indexKey.secret.duplicate()) else {
            throw .damagedKeybag
        }
        // A reader may meet a row between its commit and the adoption.
        if self.store === store { keyring.anticipate(recovery.renewed) }
        store.anticipate(recovery.slot)
        let adopt = {
            let before = self.state
            store.adopt(recovered: recovery.slot)
            self.isInStep(store)
            (self.store, self.stranded) = (store, nil)
            self.keepsCompletions = false
            self.forgetSession()
            self.keyring.unlock(with: recovery.renewed)
            if recovery.hasPasscode && self.locks != recovery.locksBefore { self.keyring.lock() }
            if self.state != before { self.surroundings.tell([.lockStateChanged(self.state)]) }
        }
        return try await store.writer.write(adopt: adopt) { () throws(Refusal) in
            let loss = self.loss(store, hasPasscode: recovery.hasPasscode)
            let count = try stored { () throws(SQLiteError) in try loss.count(store.writing) }
            guard count.lost <= recovery.accepted else { throw .wouldLose(count.lost) }
            var notices: [Notice] = []
            try stored { () throws(SQLiteError) in
                if store.isOwn { try self.carryOutPendingLogouts(store, deviceKey, index) }
                notices = try loss.carryOut(store.writing)
                try store.bind(to: deviceKey)
            }
            notices += try self.applyCompletions(store, recovery.recovered)
            try stored { () throws(SQLiteError) in
                try ClassKeyRoll(
                    store.writing, from: recovery.recovered, and: self.present(store), to: recovery.renewed
                ).keep()
                try store.writing.keybag.replace(by: recovery.slot)
                try store.writing.keybag.renewPairs(for: recovery.renewed)
                try store.writing.keybag.note(outOfStep: false)
            }
            return (count, notices)
        }
    }

    // Keys may be in memory that belong to a file which another one has come into the place of.
    private func present(_ store: Store) -> Keyring { self.store === store ? keyring : Keyring() }

    // What is in memory is kept, though no slot that can be opened has it.
    private func loss(_ store: Store, hasPasscode: Bool) -> RecoveryLoss {
        var kept = present(store).ids
        if !hasPasscode {
            kept.subtract(store.accessibilities.filter { $0.value == .whenPasscodeSetThisDeviceOnly }.keys)
        }
        let lost = store.accessibilities.filter { !$0.value.isMigratable && !kept.contains($0.key) }
        return RecoveryLoss(classKeys: lost.keys.sorted(), isForeign: !store.isOwn)
    }

    // A slot of another keybag, an older one of this store for example, would leave rows behind that nothing opens. The
    // pairs tell: each is sealed under its class key.
    private func open(
        _ slot: RecoverySlot, _ recoveryKey: RecoveryKey, _ store: Store
    ) async throws(Refusal) -> OpenedKeybag {
        let key = try await derive(recoveryKey, slot.header)
        do throws(KeybagError) {
            let opened = try slot.open(with: key)
            attempts.succeeded()
            let ids = Set(opened.classKeys.map(\.id))
            guard ids == Set(store.slot.accessibilities.filter(\.value.isMigratable).keys),
                opened.classKeys.allSatisfy({ (try? store.writing.keybag.pair(of: $0)) != nil })
            else { throw KeybagError.damaged }
            return opened
        } catch .damaged {
            surroundings.report(Fault("open the recovery slot"))
            throw .damagedKeybag
        } catch {
            attempts.failed()
            throw Refusal(.authFailed, "The recovery key is not this keychain's.")
        }
    }
}
