internal import BrokerModel
internal import Sodium

/// The slot that a recovery key opens, without the device key: the class keys that may leave the device, and the index
/// key, without which nothing is found.
///
/// These are wrapped by a key of the slot's own. That one the recovery key wraps here and, beside the class keys, the
/// passcode in the keybag's first slot: whoever has the passcode can wrap class keys anew for a recovery key that
/// nobody has at hand, and nobody else can.
struct RecoverySlot {
    let header: Header
    let wrapped: [KeybagSlot.WrappedKey]

    /// What the recovery key's own key is derived with.
    struct Header: Equatable {
        let cost: Argon2id.Cost
        let salt: [UInt8]

        static func new() -> Header { Header(cost: .standard, salt: Random.bytes(Argon2id.saltBytes)) }

        private init(cost: Argon2id.Cost, salt: [UInt8]) {
            self.cost = cost
            self.salt = salt
        }

        /// version (1) ‖ kind (1) ‖ passes (4) ‖ KiB of memory (4) ‖ salt (16).
        var bytes: [UInt8] {
            var writer = ByteWriter(capacity: 26)
            writer.raw([1, 3])
            writer.number(cost.passes)
            writer.number(cost.memoryKiB)
            writer.raw(salt)
            return writer.bytes
        }

        /// Nil for a header of another version or kind, and for costs out of bounds.
        init?(_ bytes: [UInt8]) {
            var reader = ByteReader(bytes.span)
            guard reader.number(UInt8.self) == 1, reader.number(UInt8.self) == 3,
                let passes = reader.number(UInt32.self), let memory = reader.number(UInt32.self),
                let cost = Argon2id.Cost(passes: passes, memoryKiB: memory),
                let salt = reader.raw(Argon2id.saltBytes), reader.isAtEnd
            else { return nil }
            self.init(cost: cost, salt: salt)
        }

        /// What the recovery key wraps the slot's own key by; nil when there is no memory to derive it. As slow as a
        /// passcode's.
        func key(of recoveryKey: RecoveryKey) -> Key? {
            let derived = Argon2id.derive(recoveryKey.symbols.secret, salt: salt, cost: cost)
            guard let derived else { return nil }
            return Blake2b.key(Array("chatelaine-recovery-1".utf8).span, key: derived)
        }
    }

    init(header: Header, wrapped: [KeybagSlot.WrappedKey]) {
        self.header = header
        self.wrapped = wrapped
    }

    /// Wraps what may leave the device of an open keybag, which has a key for the slot.
    init(
        header: Header, by key: borrowing Key, _ own: OpenedKeybag.RecoveryEntry, sealing opened: OpenedKeybag
    ) {
        let entry = KeybagSlot.WrappedKey(
            id: own.id, .recovery, own.key.bytes, under: key, header.bytes)
        self.init(header: header, wrapped: [entry] + Self.wrap(opened, own, header))
    }

    /// The same slot, for the same recovery key, with the class keys of another keybag.
    func resealed(_ own: OpenedKeybag.RecoveryEntry, sealing opened: OpenedKeybag) -> RecoverySlot {
        let kept = wrapped.filter { $0.purpose == .recovery }
        return RecoverySlot(header: header, wrapped: kept + Self.wrap(opened, own, header))
    }

    private static func wrap(
        _ opened: OpenedKeybag, _ own: OpenedKeybag.RecoveryEntry, _ header: Header
    ) -> [KeybagSlot.WrappedKey] {
        let keys = opened.classKeys.filter(\.accessibility.isMigratable).map {
            KeybagSlot.WrappedKey(
                id: $0.id, .classKey($0.accessibility), $0.key.bytes, under: own.key, header.bytes)
        }
        let index = KeybagSlot.WrappedKey(
            id: opened.indexKeyID, .index, opened.indexKey.secret, under: own.key, header.bytes)
        return keys + [index]
    }

    /// Opens the slot: the wrong key, or one of another store's slot, opens nothing at all.
    func open(with key: borrowing Key) throws(KeybagError) -> OpenedKeybag {
        guard let entry = wrapped.first(where: { $0.purpose == .recovery }) else { throw .damaged }
        guard let opened = entry.open(under: key, header.bytes) else { throw .wrongKey }
        guard let ownKey = Key(opened) else { throw .damaged }
        let own = OpenedKeybag.RecoveryEntry(id: entry.id, key: ownKey)
        var classKeys: [OpenedKeybag.ClassKeyEntry] = []
        var index: (id: UInt32, key: SharedSecret)?
        for entry in wrapped where entry.purpose != .recovery {
            guard let key = entry.open(under: own.key, header.bytes) else { throw .damaged }
            if case .classKey(let accessibility) = entry.purpose {
                guard let key = Key(key) else { throw .damaged }
                classKeys.append(.init(id: entry.id, accessibility: accessibility, key: key))
            } else {
                index = (entry.id, SharedSecret(key))
            }
        }
        let classes = Set(Accessibility.allCases.filter(\.isMigratable))
        guard let index, Set(classKeys.map(\.accessibility)) == classes else { throw .damaged }
        return OpenedKeybag(
            classKeys: classKeys, indexKeyID: index.id, indexKey: index.key, recovery: own)
    }
}
