internal import BrokerGate
public import BrokerModel
internal import BrokerVault
internal import SDBus

extension SecretServiceDesk {
    /// What a call to lock or unlock names.
    public enum Object: Hashable, Sendable {
        /// A collection.
        case collection(SecretCollection.Address)
        /// An item, which is locked with its collection.
        case item(SecretItem.Address)
    }

    /// What became of the objects of a call.
    public struct Locking {
        /// By their place in the call: those that are as the call wants them.
        public var done: [Int] = []
        /// Those that a person must open.
        public var left: [Int] = []
        /// Their collections, or those that the call closed.
        public var collections: Set<SecretCollection.ID> = []
        /// Whether the secret of one that is left needs the keychain unlocked, though its collection may be open.
        public var needsUnlock = false
    }

    /// Closes the collections of the objects for everybody. Objects that the caller does not see are left out.
    public func lock(_ context: CallContext, _ objects: [Object]) throws(Refusal) -> Outcome<Locking> {
        try with(context, [.search]) { (_, leave) throws(Refusal) in
            var locking = Locking()
            for (index, object) in objects.enumerated() {
                guard let id = try self.collection(of: object, leave(nil)) else { continue }
                if !self.isLocked(id), self.close(id) { locking.collections.insert(id) }
                locking.done.append(index)
            }
            return .now(locking)
        }
    }

    /// Sorts the objects into those that are open and those that a person must open.
    public func unlock(_ context: CallContext, _ objects: [Object]) throws(Refusal) -> Outcome<Locking> {
        try with(context, [.search]) { (_, leave) throws(Refusal) in
            var locking = Locking()
            for (index, object) in objects.enumerated() {
                guard let id = try self.collection(of: object, leave(nil)) else { continue }
                let needsUnlock = try self.needsUnlock(object, id, context, leave(nil))
                if needsUnlock { locking.needsUnlock = true }
                if self.isLocked(id) || needsUnlock {
                    locking.left.append(index)
                    locking.collections.insert(id)
                } else {
                    locking.done.append(index)
                }
            }
            return .now(locking)
        }
    }

    // Though the collection may be open: for an item whose secret is of the foreground, and for one that the caller could
    // not write.
    private func needsUnlock(
        _ object: Object, _ collection: SecretCollection.ID, _ context: CallContext,
        _ grant: borrowing Grant
    ) throws(Refusal) -> Bool {
        guard desk.vault.state == .locked else { return false }
        switch object {
        case .collection: return collection != .session && isRefusedWriter(context.connection)
        case .item(let address): return try item(address, grant).isLocked && !isLocked(collection)
        }
    }

    /// Whether it takes the passcode to open a collection.
    public var needsPasscode: Bool { desk.vault.isPasscodeSet || desk.vault.state == .beforeFirstUnlock }

    /// Opens the collections where there is no passcode that would have to be asked for. False where there is one.
    public func openWithoutPasscode(_ ids: Set<SecretCollection.ID>) -> Bool {
        guard !needsPasscode else { return false }
        open(ids)
        return true
    }

    // Before the first unlock nobody can say which items there are.
    private func collection(
        of object: Object, _ grant: borrowing Grant
    ) throws(Refusal) -> SecretCollection.ID? {
        do throws(Refusal) {
            switch object {
            case .collection(let address): return try collection(address, grant).id
            case .item(let address):
                let collection = try collection(address.collection, grant)
                if desk.vault.state == .beforeFirstUnlock { return collection.id }
                return try item(address, grant).collection
            }
        } catch {
            if error.kind == .itemNotFound { return nil }
            throw error
        }
    }
}
