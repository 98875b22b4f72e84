/// When an item's class key is in memory, and whether the item may leave this device.
///
/// The raw value is stored in the vault (docs/FORMATS.md) and never changes its meaning.
public enum Accessibility: UInt8, CaseIterable, Sendable {
    case whenUnlocked = 1
    case whenUnlockedThisDeviceOnly = 2
    case whenPasscodeSetThisDeviceOnly = 3
    case afterFirstUnlock = 4
    case afterFirstUnlockThisDeviceOnly = 5

    /// The word that stands for it on the bus, in the policy and on the command line.
    public var name: String {
        switch self {
        case .whenUnlocked: "when-unlocked"
        case .whenUnlockedThisDeviceOnly: "when-unlocked-this-device-only"
        case .whenPasscodeSetThisDeviceOnly: "when-passcode-set-this-device-only"
        case .afterFirstUnlock: "after-first-unlock"
        case .afterFirstUnlockThisDeviceOnly: "after-first-unlock-this-device-only"
        }
    }

    /// Nil for a word that is none of the five; the deprecated `always` classes are among those.
    public init?(name: some StringProtocol) {
        guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }

    /// Which of the two vaults holds items of this class.
    public var side: Side {
        switch self {
        case .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly: .foreground
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: .background
        }
    }

    /// Whether a backup may carry items of this class to another device.
    public var isMigratable: Bool { self == .whenUnlocked || self == .afterFirstUnlock }

    /// The two vaults: background items stay readable after the first unlock, foreground items are
    /// gone from memory whenever the device is locked.
    public enum Side: UInt8, CaseIterable, Sendable {
        case background = 1
        case foreground = 2
    }
}
