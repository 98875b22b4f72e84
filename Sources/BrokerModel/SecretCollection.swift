/// A collection of `org.freedesktop.secrets`, as one caller sees it.
public struct SecretCollection: Sendable, Equatable {
    /// Which one.
    public let id: ID
    /// The end of its path.
    public let name: String
    /// What a person calls it.
    public var label: String
    /// The names it has beside its path.
    public var aliases: [String]
    /// Microseconds since the Unix epoch; 0 for what was never stored.
    public let created: UInt64
    /// Microseconds since the Unix epoch.
    public let modified: UInt64
    /// Whether its secrets are out of reach until a person opens it.
    public let isLocked: Bool
    /// The group of its row; nil where it has none.
    public let group: AccessGroup?
    /// The row that says so, where there is one.
    public let row: Reference?

    /// All fields.
    public init(
        id: ID, name: String, label: String, aliases: [String], created: UInt64, modified: UInt64,
        isLocked: Bool, group: AccessGroup?, row: Reference?
    ) {
        self.id = id
        self.name = name
        self.label = label
        self.aliases = aliases
        self.created = created
        self.modified = modified
        self.isLocked = isLocked
        self.group = group
        self.row = row
    }

    /// Which collection.
    public enum ID: Hashable, Sendable {
        /// The one that is always there, and the default.
        case login
        /// The one that is in memory alone, and ends with the broker.
        case session
        /// One that a program made.
        case made(Reference)

        /// What its items say of where they are.
        public var attribute: AttributeValue {
            switch self {
            case .login: .text(Array("login".utf8))
            case .session: .text(Array("session".utf8))
            case .made(let reference): .bytes(reference.bytes)
            }
        }

        /// Nil for what no item says.
        public init?(attribute: AttributeValue?) {
            switch attribute {
            case .text(let bytes) where bytes == Array("login".utf8): self = .login
            case .bytes(let bytes):
                guard let reference = Reference(bytes: bytes) else { return nil }
                self = .made(reference)
            default: return nil
            }
        }
    }

    /// How a call names a collection.
    public enum Address: Hashable, Sendable {
        /// By the end of its path.
        case name(String)
        /// By an alias.
        case alias(String)
    }
}
