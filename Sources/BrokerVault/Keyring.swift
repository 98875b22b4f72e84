internal import BrokerModel
internal import Sodium

/// The keys that are in memory now. Which they are *is* the device's state: there is no flag beside them
/// that could say otherwise.
final class Keyring {
    private(set) var background: ClassKeys<Background>?
    private(set) var foreground: ClassKeys<Foreground>?
    private(set) var index: IndexKey?
    /// What the keys were opened as, to wrap them anew by; there for as long as the foreground's are.
    private(set) var opened: OpenedKeybag?

    var state: DeviceState {
        if foreground != nil { return .unlocked }
        return background != nil ? .locked : .beforeFirstUnlock
    }

    /// Takes every key that a slot opened.
    func unlock(with opened: OpenedKeybag) {
        background = ClassKeys(opened)
        foreground = ClassKeys(opened)
        index = IndexKey(opened.indexKey.secret.duplicate())
        self.opened = opened
    }

    /// The same keybag was wrapped with another set of keys beside the classes'.
    func note(rewrapped opened: OpenedKeybag) {
        if foreground != nil { self.opened = opened }
    }

    /// Takes keys that rows may soon be under, for the sides that are open. New rows stay with the old keys
    /// until ``unlock(with:)``.
    func anticipate(_ opened: OpenedKeybag) {
        background?.append(ClassKeys(opened))
        foreground?.append(ClassKeys(opened))
    }

    /// Takes what another one has besides, to read by: for the sides that are open here.
    func borrow(_ other: Keyring) {
        if let keys = other.background { background?.append(keys) }
        if let keys = other.foreground { foreground?.append(keys) }
    }

    /// The numbers of the class keys that are in memory.
    var ids: Set<UInt32> {
        Set((background?.keys.map(\.id) ?? []) + (foreground?.keys.map(\.id) ?? []))
    }

    /// Wipes the foreground keys. Their memory is zeroed when this returns.
    func lock() {
        foreground = nil
        opened = nil
    }

    /// Wipes everything, for a store that another one has taken the place of.
    func forget() {
        lock()
        background = nil
        index = nil
    }
}
