/// `[SecretService]`: how the front for existing programs treats its callers.
public struct SecretServiceRules: Sendable, Equatable {
    /// Whether callers see their own application's items alone.
    public private(set) var isolation = Isolation.application
    /// What callers get of whom nothing but the user id is known.
    public private(set) var unidentified = Unidentified.share
    /// The ids of applications that see everything.
    public private(set) var managers: [String] = []
    /// The ids of applications that are the desktop's portal, and may ask for any application's own secret.
    public private(set) var portals: [String] = []
    /// The line that names the managers.
    private(set) var managersLine: Int?
    /// The line that names the portals.
    private(set) var portalsLine: Int?

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
}

extension SecretServiceRules: SectionReading {
    static let repeatableKeys: Set<String> = []

    mutating func take(
        _ entry: PolicyText.Entry, in environment: PolicyEnvironment
    ) throws(ValueError) -> Bool {
        switch entry.key {
        case "Isolation": isolation = try Value.choice(entry.value, among: ["application", "none"])
        case "Unidentified": unidentified = try Value.choice(entry.value, among: ["share", "refuse"])
        case "Manager":
            managers = try Self.applications(entry)
            managersLine = entry.line
        case "Portal":
            portals = try Self.applications(entry)
            portalsLine = entry.line
        default: return false
        }
        return true
    }

    private static func applications(_ entry: PolicyText.Entry) throws(ValueError) -> [String] {
        try Value.list(entry.value) { (word) throws(ValueError) in try Value.applicationID(String(word)) }
    }
}
