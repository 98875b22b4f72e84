public import BrokerModel

/// One line of the audit: a decision that denied or would have, or a secret that was read. It has no field that
/// could hold a secret, an account or an attribute's value.
public struct AuditEntry: Sendable, Hashable {
    /// What was asked.
    public var operation: String
    /// The application of the policy, where one matched.
    public var application: String?
    /// What the caller runs, for people to read: a sandbox's id or a path, printable and bounded.
    public var program: String?
    /// The group that was named; nil for all of the caller's.
    public var group: AccessGroup?
    /// What became of it.
    public var decision: Decision
    /// What the policy has against it; nil where it has nothing.
    public var objection: Objection?
    /// The trust of the caller's evidence.
    public var trust: Trust
    /// The caller's connection; empty where a line stands for several.
    public var connection: String
    /// The caller's process at connect.
    public var processID: UInt32?
    /// The caller's user; nil where nobody knows who called.
    public var userID: UInt32?

    /// A connection whose calls were refused because nobody could say who makes them.
    public static func unidentified(_ connection: String) -> AuditEntry {
        AuditEntry(
            operation: "identify", decision: .deny, objection: .identity, trust: .user, connection: connection
        )
    }

    /// The words of the journal.
    public enum Decision: String, Sendable {
        /// A secret was handed out.
        case allow
        case deny
        /// The policy denies it, and the group is in observe mode.
        case observe
    }
}

/// What the policy has against a call; the words of the journal.
public enum Objection: String, Sendable {
    /// The caller has no group at all.
    case noGroup = "no-group"
    /// The group is not the caller's.
    case group
    /// The group would be the caller's, were its evidence worth more.
    case trust
    /// `Operations=` lacks the operation.
    case operation
    /// `Role=background` keeps it from foreground items.
    case role
    /// A manager's call by somebody else.
    case manager
    /// The desktop's portal's call by somebody else.
    case portal
    /// The caller could not be identified, and so is nobody.
    case identity

    /// For a person, to stand behind a colon.
    public var text: String {
        switch self {
        case .noGroup: "it has no access group at all"
        case .group: "the policy does not give it the group"
        case .trust: "the group requires more trust than its evidence is worth"
        case .operation: "Operations= of its application lacks it"
        case .role: "Role=background of its application keeps it from foreground items"
        case .manager: "the call is for the user's own programs, or an administrator's"
        case .portal: "the call is for the desktop's portal"
        case .identity: "it could not be identified, and so is nobody"
        }
    }

    /// What a client is told. It does not say whether more trust would have helped.
    var refusal: Refusal {
        switch self {
        case .noGroup: .noGroup
        case .group, .trust: .missingGroup
        case .operation: .missingOperation
        case .role: .backgroundRole
        case .manager: .notManager
        case .portal: .notPortal
        case .identity: .nobody
        }
    }
}

/// Where audit lines go.
public protocol AuditSink: Sendable {
    /// Takes a line; it must not block.
    func record(_ entry: AuditEntry)
}

extension Refusal {
    static let noGroup = Refusal(
        .missingEntitlement,
        "The policy gives this program no access group; an [Application] section with its path gives it one.")

    static let backgroundRole = Refusal(
        .missingEntitlement, "A background program stores after-first-unlock items alone.")

    static let nobody = Refusal(.identityUnavailable, "The caller could not be identified; call again.")

    static let notPortal = Refusal(
        .accessDenied,
        """
        Only the desktop's portal may ask for an application's own secret; Portal= in [SecretService] of the policy says \
        which program that is.
        """
    )

    static let notManager = Refusal(
        .accessDenied,
        """
        This call is for the user's own programs or an administrator's: with --user what [Manager] in the policy lists, \
        with --system root and whoever polkit allows.
        """
    )
}
