internal import BrokerModel
internal import Sodium

/// The keys of an open keybag, sealed for this process alone: under the device key and a random key that is in this
/// process's memory and nowhere else. It ends with the process, with the boot at the latest.
///
/// It keeps the keys out of memory that is not locked, and no more: whoever can read all of the process's memory has
/// both keys and the seal.
struct SessionSeal {
    private let key: SharedSecret
    private let sealed: [UInt8]
    private let entries: [Entry]
    private let indexKeyID: UInt32
    private let recoveryID: UInt32?

    private struct Entry {
        let id: UInt32
        let accessibility: Accessibility
    }

    init(_ opened: OpenedKeybag, _ deviceKey: DeviceKey) {
        let key = SharedSecret(Secret.random(Key.byteCount))
        let count = opened.classKeys.count + (opened.recovery == nil ? 1 : 2)
        let content = Secret(count: Key.byteCount * count) { target in
            for (place, entry) in opened.classKeys.enumerated() {
                target.copy(entry.key.bytes, at: place * Key.byteCount)
            }
            target.copy(opened.indexKey.secret, at: opened.classKeys.count * Key.byteCount)
            if let recovery = opened.recovery {
                target.copy(recovery.key.bytes, at: (opened.classKeys.count + 1) * Key.byteCount)
            }
        }
        self.key = key
        entries = opened.classKeys.map { Entry(id: $0.id, accessibility: $0.accessibility) }
        indexKeyID = opened.indexKeyID
        recoveryID = opened.recovery?.id
        sealed = XChaCha20Poly1305.seal(
            content, key: Self.sealingKey(key.secret, deviceKey),
            associatedData: Array("chatelaine-session-seal".utf8))
    }

    /// Nil under another device key.
    func open(_ deviceKey: DeviceKey) -> OpenedKeybag? {
        let content = XChaCha20Poly1305.open(
            sealed.span, key: Self.sealingKey(key.secret, deviceKey),
            associatedData: Array("chatelaine-session-seal".utf8))
        guard let content else { return nil }
        var classKeys: [OpenedKeybag.ClassKeyEntry] = []
        for (place, entry) in entries.enumerated() {
            guard let key = Key(Self.part(place, of: content)) else { return nil }
            classKeys.append(.init(id: entry.id, accessibility: entry.accessibility, key: key))
        }
        var recovery: OpenedKeybag.RecoveryEntry?
        if let recoveryID {
            guard let key = Key(Self.part(entries.count + 1, of: content)) else { return nil }
            recovery = .init(id: recoveryID, key: key)
        }
        return OpenedKeybag(
            classKeys: classKeys, indexKeyID: indexKeyID,
            indexKey: SharedSecret(Self.part(entries.count, of: content)), recovery: recovery)
    }

    private static func sealingKey(_ key: borrowing Secret, _ deviceKey: DeviceKey) -> Key {
        Blake2b.key(key.span, key: deviceKey.key)
    }

    private static func part(_ place: Int, of content: borrowing Secret) -> Secret {
        Secret(copying: content.span.extracting(place * Key.byteCount..<(place + 1) * Key.byteCount))
    }
}
