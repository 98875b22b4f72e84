internal import BrokerModel

/// One of the two vaults, as a type: rows, keys and tables of the one cannot be used with those of the
/// other. Code that holds `ClassKeys<Background>` has no way to name a foreground row's key.
protocol VaultSide {
    static var side: Accessibility.Side { get }
    /// The table of its items.
    static var table: String { get }
}

/// The after-first-unlock classes.
enum Background: VaultSide {
    static let side = Accessibility.Side.background
    static let table = "background_items"
}

/// The when-unlocked and passcode-set classes.
enum Foreground: VaultSide {
    static let side = Accessibility.Side.foreground
    static let table = "foreground_items"
}
