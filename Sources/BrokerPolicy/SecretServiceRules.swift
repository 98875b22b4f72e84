/// `[SecretService]`: how the front for existing programs treats its callers.
public struct SecretServiceRules: Sendable, Equatable {
    /// Whether callers see their own application's items alone.
    public private(set) var isolation = Isolation.application
    /// What callers get of whom nothing but the user id is known.
    public private(set) var unidentified = Unidentified.share
    /// Patterns of the `xdg:schema` of items whose secret is of the foreground, with the line of each.
    private(set) var foregroundSchemas: [Schema] = []
    /// Every application that is named, in the order of the file.
    private(set) var named: [Named] = []

    /// The ids of applications that see everything.
    public var managers: [String] { ids(of: .manager) }
    /// The ids of applications that are the desktop's portal, and may ask for any application's own secret.
    public var portals: [String] { ids(of: .portal) }
    /// The ids of applications whose items have a secret of the foreground.
    public var whenUnlocked: [String] { ids(of: .whenUnlocked) }
    /// Patterns of the `xdg:schema` of items that have one, whosever they are.
    public var whenUnlockedSchemas: [String] { foregroundSchemas.map(\.pattern.text) }

    /// `Isolation=`
    public enum Isolation: String, Sendable {
        case application
        case none
    }

    /// `Unidentified=`
    public enum Unidentified: String, Sendable {
        /// They share one group.
        case share
        /// They have no group at all.
        case refuse
    }

    /// The keys that name applications.
    enum Key: String, Sendable {
        case manager = "Manager"
        case portal = "Portal"
        case whenUnlocked = "WhenUnlocked"
    }

    /// An application in the line of such a key.
    struct Named: Sendable, Equatable {
        let key: Key
        let id: String
        let line: Int
    }

    /// A word of `WhenUnlockedSchema=`.
    struct Schema: Sendable, Equatable {
        let pattern: Glob
        let line: Int
    }

    private func ids(of key: Key) -> [String] { named.filter { $0.key == key }.map(\.id) }
}

extension SecretServiceRules: SectionReading {
    static let repeatableKeys: Set<String> = ["WhenUnlocked", "WhenUnlockedSchema"]

    mutating func take(
        _ entry: PolicyText.Entry, in environment: PolicyEnvironment
    ) throws(ValueError) -> Bool {
        switch entry.key {
        case "Isolation": isolation = try Value.choice(entry.value, among: ["application", "none"])
        case "Unidentified": unidentified = try Value.choice(entry.value, among: ["share", "refuse"])
        case "WhenUnlockedSchema":
            let patterns = try Value.list(entry.value) { (word) throws(ValueError) in try Glob(String(word)) }
            foregroundSchemas += patterns.map { Schema(pattern: $0, line: entry.line) }
        default:
            guard let key = Key(rawValue: entry.key) else { return false }
            let ids = try Value.list(entry.value) { (word) throws(ValueError) in
                try Value.applicationID(String(word))
            }
            named += ids.map { Named(key: key, id: $0, line: entry.line) }
        }
        return true
    }
}
