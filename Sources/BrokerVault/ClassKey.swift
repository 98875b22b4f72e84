internal import BrokerModel
internal import Sodium

/// The keys that protect items of one class: one for attributes, one for secrets, both derived from the
/// class key that the keybag wraps.
///
/// Wiped with its last owner, which is the keyring: nothing else keeps one over a suspension.
final class ClassKey<Side: VaultSide> {
    /// The class key's number, which every row names.
    let id: UInt32
    let accessibility: Accessibility
    /// Wraps the per-item keys of attributes.
    let metadata: Key
    /// Wraps the per-item keys of secrets.
    let secrets: Key

    /// Nil for a class of the other side.
    init?(id: UInt32, accessibility: Accessibility, classKey: borrowing Key) {
        guard accessibility.side == Side.side else { return nil }
        self.id = id
        self.accessibility = accessibility
        metadata = classKey.subkey(1, context: "chatmeta")
        secrets = classKey.subkey(2, context: "chatsecr")
    }
}

/// The class keys of one side that are in memory.
struct ClassKeys<Side: VaultSide> {
    private(set) var keys: [ClassKey<Side>]

    /// The keys of this side.
    init(_ opened: OpenedKeybag) {
        keys = opened.classKeys.compactMap {
            ClassKey(id: $0.id, accessibility: $0.accessibility, classKey: $0.key)
        }
    }

    /// Takes further keys, by which no new row is sealed.
    mutating func append(_ others: ClassKeys) { keys += others.keys }

    /// The key that new rows of the class are sealed under.
    subscript(accessibility: Accessibility) -> ClassKey<Side>? {
        keys.first { $0.accessibility == accessibility }
    }

    /// The key that a row names.
    subscript(id id: UInt32) -> ClassKey<Side>? { keys.first { $0.id == id } }
}
