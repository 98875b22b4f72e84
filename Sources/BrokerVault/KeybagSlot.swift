internal import BrokerModel
internal import Sodium

/// One way to open the keybag: what its key is derived from, and the keys that it wraps.
///
/// A recovery key has a slot beside it (``RecoverySlot``); rows know nothing of slots.
struct KeybagSlot {
    let header: Header
    let wrapped: [WrappedKey]

    /// A key as the store holds it: sealed under the slot's key, with the header, the key's number and its
    /// purpose as associated data.
    struct WrappedKey {
        let id: UInt32
        let purpose: KeyPurpose
        let sealed: [UInt8]

        init(id: UInt32, purpose: KeyPurpose, sealed: [UInt8]) {
            self.id = id
            self.purpose = purpose
            self.sealed = sealed
        }

        /// Wraps `key` for a slot with this header.
        init(
            id: UInt32, _ purpose: KeyPurpose, _ key: borrowing Secret, under wrapping: borrowing Key,
            _ header: [UInt8]
        ) {
            self.init(
                id: id, purpose: purpose,
                sealed: XChaCha20Poly1305.seal(
                    key, key: wrapping, associatedData: Self.associatedData(header, id, purpose)))
        }

        /// Nil for another wrapping key, and where anything was altered.
        func open(under wrapping: borrowing Key, _ header: [UInt8]) -> Secret? {
            XChaCha20Poly1305.open(
                sealed.span, key: wrapping, associatedData: Self.associatedData(header, id, purpose))
        }

        private static func associatedData(_ header: [UInt8], _ id: UInt32, _ purpose: KeyPurpose) -> [UInt8]
        {
            var data = ByteWriter(capacity: 48)
            data.raw("chatelaine-keybag".utf8)
            data.counted(header)
            data.number(id)
            data.number(purpose.rawValue)
            return data.bytes
        }
    }

    /// What must be had to open the slot.
    enum Header: Equatable {
        /// The device key alone: no passcode is set.
        case device
        /// The passcode and the device key.
        case passcode(cost: Argon2id.Cost, salt: [UInt8])

        /// version (1) ‖ kind (1) ‖ for a passcode: passes (4), KiB of memory (4), salt (16).
        var bytes: [UInt8] {
            var writer = ByteWriter(capacity: 26)
            switch self {
            case .device: writer.raw([1, 1])
            case .passcode(let cost, let salt):
                writer.raw([1, 2])
                writer.number(cost.passes)
                writer.number(cost.memoryKiB)
                writer.raw(salt)
            }
            return writer.bytes
        }

        /// Nil for a header of another version or kind, and for costs out of bounds.
        init?(_ bytes: [UInt8]) {
            var reader = ByteReader(bytes.span)
            guard reader.number(UInt8.self) == 1 else { return nil }
            switch reader.number(UInt8.self) {
            case 1: self = .device
            case 2:
                guard let passes = reader.number(UInt32.self), let memory = reader.number(UInt32.self),
                    let cost = Argon2id.Cost(passes: passes, memoryKiB: memory),
                    let salt = reader.raw(Argon2id.saltBytes)
                else { return nil }
                self = .passcode(cost: cost, salt: salt)
            default: return nil
            }
            guard reader.isAtEnd else { return nil }
        }

        /// The classes that have a key.
        var classes: Set<Accessibility> {
            let all = Set(Accessibility.allCases)
            return self == .device ? all.subtracting([.whenPasscodeSetThisDeviceOnly]) : all
        }

        static func newPasscode() -> Header {
            .passcode(cost: .standard, salt: Random.bytes(Argon2id.saltBytes))
        }

        /// The slot's key: BLAKE2b under the device key over the Argon2id output (nothing for a device
        /// slot) and the slot's kind.
        func slotKey(derived: SharedSecret?, deviceKey: DeviceKey) -> Key {
            let kind: UInt8 = self == .device ? 1 : 2
            let count = derived?.secret.count ?? 0
            let message = Secret(count: count + 1) { target in
                if let derived { target.copy(derived.secret) }
                target[count] = kind
            }
            return Blake2b.key(message.span, key: deviceKey.key)
        }
    }

    init(header: Header, wrapped: [WrappedKey]) {
        self.header = header
        self.wrapped = wrapped
    }

    /// Wraps every key of an open keybag.
    init(header: Header, slotKey: borrowing Key, sealing opened: OpenedKeybag) {
        self.header = header
        let bytes = header.bytes
        var wrapped = opened.classKeys.map {
            WrappedKey(id: $0.id, .classKey($0.accessibility), $0.key.bytes, under: slotKey, bytes)
        }
        wrapped.append(
            WrappedKey(
                id: opened.indexKeyID, .index, opened.indexKey.secret, under: slotKey, bytes))
        if let recovery = opened.recovery {
            wrapped.append(
                WrappedKey(id: recovery.id, .recovery, recovery.key.bytes, under: slotKey, bytes))
        }
        self.wrapped = wrapped
    }

    /// Opens every key, or says why not: none opened (the wrong passcode or device key), or only some
    /// (damage).
    func open(with slotKey: borrowing Key) throws(KeybagError) -> OpenedKeybag {
        var classKeys: [OpenedKeybag.ClassKeyEntry] = []
        var index: (id: UInt32, key: SharedSecret)?
        var recovery: OpenedKeybag.RecoveryEntry?
        var failures = 0
        let bytes = header.bytes
        for entry in wrapped {
            guard let key = entry.open(under: slotKey, bytes) else {
                failures += 1
                continue
            }
            switch entry.purpose {
            case .index: index = (entry.id, SharedSecret(key))
            case .classKey(let accessibility):
                guard let key = Key(key) else { throw .damaged }
                classKeys.append(.init(id: entry.id, accessibility: accessibility, key: key))
            case .recovery:
                guard let key = Key(key) else { throw .damaged }
                recovery = .init(id: entry.id, key: key)
            }
        }
        if failures == wrapped.count && failures > 0 { throw .wrongKey }
        // A class without its key would make its items seem damaged.
        guard failures == 0, let index, Set(classKeys.map(\.accessibility)) == header.classes else {
            throw .damaged
        }
        return OpenedKeybag(
            classKeys: classKeys, indexKeyID: index.id, indexKey: index.key, recovery: recovery)
    }

    /// The numbers of all keys.
    var ids: Set<UInt32> { Set(wrapped.map(\.id)) }

    /// Which class each class key is of.
    var accessibilities: [UInt32: Accessibility] {
        var found: [UInt32: Accessibility] = [:]
        for entry in wrapped {
            if case .classKey(let accessibility) = entry.purpose { found[entry.id] = accessibility }
        }
        return found
    }
}

/// Why a keybag did not open.
enum KeybagError: Error {
    case wrongKey
    case damaged
}
