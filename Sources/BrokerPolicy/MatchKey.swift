/// A key of `[Application ID]` that says whom the section is about.
enum MatchKey: String, CaseIterable, Sendable {
    case executable = "Executable"
    case unit = "Unit"
    case flatpak = "Flatpak"
    case snap = "Snap"
    case group = "Group"
    case user = "User"
    case securityLabel = "SecurityLabel"

    /// Whether it names what holds a sandboxed caller. One that is recognised as sandboxed is matched by
    /// such a key or not at all: a sandbox narrows a caller.
    var namesSandbox: Bool { self == .flatpak || self == .snap || self == .securityLabel }
}

/// One line of a match key: an alternative to the other lines of that key.
struct Alternative: Sendable {
    let key: MatchKey
    /// The value as it was written.
    let text: String
    let line: Int
    let test: Test

    enum Test: Sendable, Hashable {
        case executable(String)
        case unit(Glob)
        case flatpak(String)
        case snap(String)
        /// Nil for a name that the group database does not have: nobody matches.
        case group(UInt32?)
        case user(UInt32?)
        case securityLabel(String)
    }

    init(_ key: MatchKey, _ entry: PolicyText.Entry, in environment: PolicyEnvironment) throws(ValueError) {
        self.key = key
        self.text = entry.value
        self.line = entry.line
        self.test =
            switch key {
            case .executable: .executable(try Value.path(entry.value))
            case .unit: .unit(try Value.unit(entry.value))
            case .flatpak: .flatpak(try Value.sandboxID(entry.value))
            case .snap: .snap(try Value.sandboxID(entry.value))
            case .group: .group(try Value.id(entry.value) { environment.group($0)?.id })
            case .user: .user(try Value.id(entry.value, orNamed: environment.user))
            case .securityLabel: .securityLabel(try Value.securityLabel(entry.value))
            }
    }
}
