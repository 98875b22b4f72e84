/// A condition that a caller may meet, and the sentence that tells a person what to do about it.
///
/// A refusal is compared by its kind. Its text is written by us and never holds a caller's data: not a
/// secret, not an account, not an attribute's value.
public struct Refusal: Error, Sendable, Equatable {
    /// The error of the contract.
    public let kind: Kind
    /// One sentence or two for a person.
    public let text: String
    /// The item's revision, with `revisionMismatch` alone.
    public let currentRevision: UInt64?
    /// What gated items demand before the call can go on; empty for every other refusal.
    public let demands: [Demand]
    /// Whether the call would go on if it knew which fingers are enrolled.
    public let asksForFingers: Bool

    /// The errors of INTERFACE.md, closed.
    public enum Kind: String, CaseIterable, Sendable {
        case param = "Param"
        case itemNotFound = "ItemNotFound"
        case duplicateItem = "DuplicateItem"
        case interactionNotAllowed = "InteractionNotAllowed"
        case authFailed = "AuthFailed"
        case userCanceled = "UserCanceled"
        case missingEntitlement = "MissingEntitlement"
        case notAvailable = "NotAvailable"
        case readOnly = "ReadOnly"
        case noSuchAttribute = "NoSuchAttribute"
        case noSuchClass = "NoSuchClass"
        case tooLarge = "TooLarge"
        case decode = "Decode"
        case io = "IO"
        case revisionMismatch = "RevisionMismatch"
        case leaseLost = "LeaseLost"
        case busy = "Busy"
        case encryptionRequired = "EncryptionRequired"
        case noSession = "NoSession"
        case quotaExceeded = "QuotaExceeded"
        case policyInvalid = "PolicyInvalid"
        case identityUnavailable = "IdentityUnavailable"
        case accessDenied = "AccessDenied"

        /// Apple's name and number for it, where there is one.
        public var status: (name: String, code: Int)? {
            switch self {
            case .param: ("errSecParam", -50)
            case .itemNotFound: ("errSecItemNotFound", -25300)
            case .duplicateItem: ("errSecDuplicateItem", -25299)
            case .interactionNotAllowed: ("errSecInteractionNotAllowed", -25308)
            case .authFailed: ("errSecAuthFailed", -25293)
            case .userCanceled: ("errSecUserCanceled", -128)
            case .missingEntitlement: ("errSecMissingEntitlement", -34018)
            case .notAvailable: ("errSecNotAvailable", -25291)
            case .readOnly: ("errSecReadOnly", -25292)
            case .noSuchAttribute: ("errSecNoSuchAttr", -25303)
            case .noSuchClass: ("errSecNoSuchClass", -25306)
            case .tooLarge: ("errSecDataTooLarge", -25302)
            case .decode: ("errSecDecode", -26275)
            case .io: ("errSecIO", -36)
            case .revisionMismatch, .leaseLost, .busy, .encryptionRequired, .noSession, .quotaExceeded,
                .policyInvalid, .identityUnavailable, .accessDenied:
                nil
            }
        }
    }

    /// A refusal with a text of ours; a `StaticString`, so that no caller's data can get into it.
    public init(_ kind: Kind, _ text: StaticString) {
        self.kind = kind
        self.text = "\(text)"
        self.currentRevision = nil
        self.demands = []
        self.asksForFingers = false
    }

    private init(
        _ kind: Kind, ownText: String, currentRevision: UInt64? = nil, demands: [Demand] = [],
        asksForFingers: Bool = false
    ) {
        self.kind = kind
        self.text = ownText
        self.currentRevision = currentRevision
        self.demands = demands
        self.asksForFingers = asksForFingers
    }

    /// A malformed or contradictory request.
    public static func param(_ text: StaticString) -> Refusal { Refusal(.param, text) }

    /// A recovery key that was mistyped. The text names places and counts.
    public static func mistyped(_ mistake: RecoveryKey.Mistake) -> Refusal {
        Refusal(.param, ownText: mistake.text)
    }

    /// A recovery that would lose more items than somebody has agreed to.
    public static func wouldLose(_ count: UInt32) -> Refusal {
        Refusal(
            .param, ownText: "\(count) items would be lost, more than was agreed to; nothing was changed.")
    }

    /// A compare-and-swap that lost; the current revision goes with it.
    public static func revisionMismatch(current: UInt64) -> Refusal {
        Refusal(
            .revisionMismatch,
            ownText: "The item has changed since; read it again and decide anew.", currentRevision: current)
    }

    /// Items that ask for a person first: what the caller gets where nobody may be asked.
    public static func gated(_ demands: [Demand]) -> Refusal {
        guard !demands.contains(where: \.constraint.isClosed) else { return .closed }
        return Refusal(
            .interactionNotAllowed,
            ownText: "The item asks for a person's presence, and this call may not ask.", demands: demands)
    }

    /// An item that no person can open any more.
    public static let closed = Refusal(
        .authFailed,
        "Other fingers are enrolled than when the item was stored, or were; store it anew, or delete it.")

    /// An item that is bound to the enrolled fingers, where it is not known which they are.
    public static let fingersUnknown = Refusal(
        .interactionNotAllowed,
        ownText: "The item is bound to the enrolled fingers, and no reader here tells which they are; see "
            + "chatelained(8).",
        asksForFingers: true)

    /// An item that would be bound to fingers where none is enrolled.
    public static let noFingers = Refusal(
        .authFailed,
        "The item is bound to the enrolled fingers, and none is; enrol one, by fprintd-enroll(1).")

    /// A policy that was refused; each line is `file:line: text`.
    public static func policyInvalid(lines: [String]) -> Refusal {
        Refusal(
            .policyInvalid,
            ownText: "The policy was refused and the old one stays: " + lines.joined(separator: "; "))
    }

    /// Compares kinds and revisions, never texts.
    public static func == (left: Self, right: Self) -> Bool {
        left.kind == right.kind && left.currentRevision == right.currentRevision
    }
}
