internal import BrokerModel
internal import Sodium

/// What a wrapped key is for; the number is stored.
enum KeyPurpose: Equatable {
    case classKey(Accessibility)
    case index
    /// What wraps the keys in the recovery slot.
    case recovery

    var rawValue: UInt8 {
        switch self {
        case .classKey(let accessibility): accessibility.rawValue
        case .index: 16
        case .recovery: 17
        }
    }

    init?(rawValue: UInt8) {
        if rawValue == 16 {
            self = .index
        } else if rawValue == 17 {
            self = .recovery
        } else if let accessibility = Accessibility(rawValue: rawValue) {
            self = .classKey(accessibility)
        } else {
            return nil
        }
    }
}

/// The keys of a keybag in clear, for as long as it takes to hand them to the keyring or to wrap them
/// anew.
struct OpenedKeybag {
    private(set) var classKeys: [ClassKeyEntry]
    let indexKeyID: UInt32
    let indexKey: SharedSecret
    /// Nil where there is no recovery key.
    var recovery: RecoveryEntry?

    /// The recovery slot's own key.
    final class RecoveryEntry {
        let id: UInt32
        let key: Key

        init(id: UInt32, key: consuming Key) {
            self.id = id
            self.key = key
        }
    }

    /// One class key.
    final class ClassKeyEntry {
        let id: UInt32
        let accessibility: Accessibility
        let key: Key

        init(id: UInt32, accessibility: Accessibility, key: consuming Key) {
            self.id = id
            self.accessibility = accessibility
            self.key = key
        }
    }

    init(
        classKeys: [ClassKeyEntry], indexKeyID: UInt32, indexKey: SharedSecret,
        recovery: RecoveryEntry? = nil
    ) {
        self.classKeys = classKeys
        self.indexKeyID = indexKeyID
        self.indexKey = indexKey
        self.recovery = recovery
    }

    /// The numbers of all keys.
    var ids: Set<UInt32> { Set(classKeys.map(\.id) + [indexKeyID] + (recovery.map { [$0.id] } ?? [])) }

    /// A new keybag without a passcode: every class but the passcode-set one.
    static func make(firstID: UInt32) -> OpenedKeybag {
        let classes = Accessibility.allCases.filter { $0 != .whenPasscodeSetThisDeviceOnly }
        let entries = classes.enumerated().map { offset, accessibility in
            ClassKeyEntry(id: firstID + UInt32(offset), accessibility: accessibility, key: .random())
        }
        return OpenedKeybag(
            classKeys: entries, indexKeyID: firstID + UInt32(entries.count),
            indexKey: SharedSecret(Key.random().bytes.duplicate()))
    }

    /// The same with a new passcode-set class key.
    func addingPasscodeSetClass(id: UInt32) -> OpenedKeybag {
        var copy = self
        let key = ClassKeyEntry(id: id, accessibility: .whenPasscodeSetThisDeviceOnly, key: .random())
        copy.classKeys.append(key)
        return copy
    }

    /// The same with new keys for the classes that have none; the passcode-set class is one of them only where there is a
    /// passcode. How many numbers it takes from `firstID` on is at most that of the classes.
    func completed(firstID: UInt32, hasPasscode: Bool) -> OpenedKeybag {
        var copy = self
        let present = Set(classKeys.map(\.accessibility))
        let missing = Accessibility.allCases.filter {
            !present.contains($0) && (hasPasscode || $0 != .whenPasscodeSetThisDeviceOnly)
        }
        copy.classKeys += missing.enumerated().map { offset, accessibility in
            ClassKeyEntry(id: firstID + UInt32(offset), accessibility: accessibility, key: .random())
        }
        return copy
    }

    /// New class keys for every class but the passcode-set one; the index key stays.
    func rolled(firstID: UInt32) -> OpenedKeybag {
        let kept = classKeys.filter { $0.accessibility != .whenPasscodeSetThisDeviceOnly }
        let entries = kept.enumerated().map { offset, old in
            ClassKeyEntry(id: firstID + UInt32(offset), accessibility: old.accessibility, key: .random())
        }
        return OpenedKeybag(
            classKeys: entries, indexKeyID: indexKeyID, indexKey: indexKey, recovery: recovery)
    }
}
