internal import BrokerModel
internal import Sodium

/// The keys that are in memory now. Which they are *is* the device's state: there is no flag beside them
/// that could say otherwise.
final class Keyring {
    private(set) var background: ClassKeys<Background>?
    private(set) var foreground: ClassKeys<Foreground>?
    private(set) var index: IndexKey?

    var state: DeviceState {
        if foreground != nil { return .unlocked }
        return background != nil ? .locked : .beforeFirstUnlock
    }

    /// Takes every key that a slot opened.
    func unlock(with opened: OpenedKeybag) {
        var background = ClassKeys<Background>()
        var foreground = ClassKeys<Foreground>()
        for entry in opened.classKeys {
            let (id, accessibility) = (entry.id, entry.accessibility)
            if let key = ClassKey<Background>(id: id, accessibility: accessibility, classKey: entry.key) {
                background.insert(key)
            } else if let key = ClassKey<Foreground>(
                id: id, accessibility: accessibility, classKey: entry.key)
            {
                foreground.insert(key)
            }
        }
        self.background = background
        self.foreground = foreground
        index = IndexKey(opened.indexKey.secret.duplicate())
    }

    /// Wipes the foreground keys. Their memory is zeroed when this returns.
    func lock() { foreground = nil }

    /// Wipes everything, for a store that went away.
    func forget() {
        foreground = nil
        background = nil
        index = nil
    }
}
