/// What a person must do before an item is used: a protection class and flags (SEMANTICS 6).
public struct AccessControl: Equatable, Sendable {
    /// The class whose key protects the item.
    public let protection: Accessibility
    /// The flags, in the order of ``Flag``.
    public let flags: Set<Flag>

    /// One word of an access control's grammar.
    public enum Flag: UInt8, CaseIterable, Sendable {
        case userPresence = 0
        case biometryAny = 1
        case biometryCurrentSet = 2
        case devicePasscode = 3
        case privateKeyUsage = 4
        case applicationPassword = 5
        case or = 6
        case and = 7

        /// The word on the bus.
        public var name: String {
            switch self {
            case .userPresence: "user-presence"
            case .biometryAny: "biometry-any"
            case .biometryCurrentSet: "biometry-current-set"
            case .devicePasscode: "device-passcode"
            case .privateKeyUsage: "private-key-usage"
            case .applicationPassword: "application-password"
            case .or: "or"
            case .and: "and"
            }
        }

        /// Nil for an unknown word.
        public init?(name: some StringProtocol) {
            guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
            self = found
        }

        fileprivate var isConstraint: Bool { factor(nil) != nil }
    }

    /// Checks the grammar of SEMANTICS 6.2 and ruling K1; `Param` for what it does not allow.
    public init(protection: Accessibility, flags: Set<Flag>) throws(Refusal) {
        let constraints = flags.filter(\.isConstraint)
        if flags.contains(.or) && flags.contains(.and) {
            throw .param("An access control joins its constraints by 'or' or by 'and', not by both.")
        }
        if flags.contains(.biometryAny) && flags.contains(.biometryCurrentSet) {
            throw .param("An access control names one biometric constraint, not two.")
        }
        if flags.contains(.userPresence)
            && !flags.isSubset(of: [.userPresence, .applicationPassword, .privateKeyUsage])
        {
            throw .param("user-presence stands with application-password and private-key-usage alone.")
        }
        if constraints.count > 1 && !flags.contains(.or) && !flags.contains(.and) {
            throw .param("Two constraints need 'or' or 'and' between them.")
        }
        self.protection = protection
        self.flags = flags
    }

    /// Whether reading asks a person for something: a constraint other than an application password.
    public var isGated: Bool { flags.contains(where: \.isConstraint) }
}
