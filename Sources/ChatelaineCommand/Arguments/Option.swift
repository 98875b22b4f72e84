/// Every option there is. The raw value is its name without the dashes.
///
/// Parser, help, and by a test the manual page and the completions: all say what this table says.
enum Option: String, CaseIterable, Sendable {
    case user
    case system
    case address
    case json
    case help
    case version

    case itemClass = "class"
    case service
    case account
    case server
    case port
    case `protocol`
    case path
    case securityDomain = "security-domain"
    case authenticationType = "authentication-type"
    case label
    case description
    case comment
    case generic
    case group
    case accessible
    case synchronizable
    case reference
    case expires
    case freshUntil = "fresh-until"

    case attributesOnly = "attributes-only"
    case all
    case ifRevision = "if-revision"
    case limit
    case reason
    case force
    case stale
    case timeout

    case schema
    case apply
    case replace
    case removeOld = "remove-old"

    case discardOld = "discard-old"
    case lose

    /// As it is written.
    var name: String { "--" + rawValue }

    /// What may follow an option.
    enum Value: Equatable {
        /// Nothing.
        case none
        /// A value, in the next word or behind an equals sign; the word stands for it in the help.
        case required(String)
        /// Maybe a value, behind an equals sign only.
        case optional(String)
    }

    /// Whether it takes a value.
    var value: Value {
        switch self {
        case .user, .system, .json, .help, .version, .attributesOnly, .all, .force, .apply, .removeOld,
            .discardOld:
            .none
        case .synchronizable: .optional("any")
        case .replace: .optional("newer")
        case .address: .required("ADDRESS")
        case .itemClass, .accessible: .required("CLASS")
        case .port, .limit, .lose: .required("NUMBER")
        case .group: .required("GROUP")
        case .reference: .required("REFERENCE")
        case .ifRevision, .stale: .required("REVISION")
        case .timeout: .required("SECONDS")
        case .expires, .freshUntil: .required("TIME")
        default: .required("TEXT")
        }
    }

    /// The option as the help shows it.
    var form: String {
        switch value {
        case .none: name
        case .required(let word): "\(name) \(word)"
        case .optional(let word): "\(name)[=\(word)]"
        }
    }

    /// The options that stand before the verb.
    static let global: [Option] = [.user, .system, .address, .json, .help, .version]

    /// The options that are what is stored with `set` and narrow the choice elsewhere.
    static let item: [Option] =
        primaryKey + [
            .itemClass, .label, .description, .comment, .generic, .group, .accessible, .synchronizable,
        ]

    /// The options of the primary keys.
    static let primaryKey: [Option] = [
        .service, .account, .server, .port, .protocol, .path, .securityDomain, .authenticationType,
    ]
}
