internal import BrokerModel

/// Why something with a credential did not work, by what a program can do about it. Each has the error as it came;
/// no text of it holds a secret, an account or an attribute's value.
public enum VaultError: Error, Sendable, Equatable {
    /// There is no such credential: sign in.
    case notFound(ChatelaineError)
    /// It is there and its key is not: wait for the unlock.
    case locked(ChatelaineError)
    /// The same, and nothing at all can be read before the user unlocks for the first time.
    case beforeFirstUnlock(ChatelaineError)
    /// A person would have to be asked, and nobody can be.
    case needsPrompt(ChatelaineError)
    /// The person who was asked said no, or proved nothing.
    case refused(ChatelaineError)
    /// The policy does not give this program the group or the operation.
    case notEntitled(ChatelaineError)
    /// It is there and cannot be read, today or ever. Say so before offering to sign in.
    case damaged(ChatelaineError)
    /// Somebody else changed it meanwhile: read it again.
    case changed(ChatelaineError)
    /// The group is full.
    case quota(ChatelaineError)
    /// More bytes than an item can have.
    case tooLarge(ChatelaineError)
    /// The broker cannot reach its store just now; what is stored is as it was.
    case unavailable(ChatelaineError)
    /// The disk failed, is full, or is read-only; nothing was changed.
    case io(ChatelaineError)
    /// No broker is there, and nothing could start one.
    case brokerMissing(ChatelaineError)
    /// The connection went during the call: whether it was done is not known.
    case interrupted(ChatelaineError)
    /// The task that waited was cancelled.
    case cancelled(ChatelaineError)
    /// The request cannot be right: a mistake of the program.
    case invalid(ChatelaineError)

    /// The error as it came.
    public var wire: ChatelaineError {
        switch self {
        case .notFound(let wire), .locked(let wire), .beforeFirstUnlock(let wire), .needsPrompt(let wire),
            .refused(let wire), .notEntitled(let wire), .damaged(let wire), .changed(let wire),
            .quota(let wire), .tooLarge(let wire), .unavailable(let wire), .io(let wire),
            .brokerMissing(let wire), .interrupted(let wire), .cancelled(let wire), .invalid(let wire):
            wire
        }
    }

    /// Whether it ends with an unlock.
    public var isLocked: Bool {
        switch self {
        case .locked, .beforeFirstUnlock: true
        default: false
        }
    }

    /// What an error of the contract, of the bus or of the connection means. A lock is taken for one after the first
    /// unlock: the error alone does not say which.
    init(_ wire: ChatelaineError) {
        guard let kind = wire.kind else {
            self = Self.outside(wire)
            return
        }
        self = Self.refusal(kind, wire)
    }

    private static func refusal(_ kind: Refusal.Kind, _ wire: ChatelaineError) -> VaultError {
        switch kind {
        case .itemNotFound: .notFound(wire)
        case .interactionNotAllowed: .locked(wire)
        case .authFailed, .userCanceled: .refused(wire)
        case .missingEntitlement, .identityUnavailable, .accessDenied: .notEntitled(wire)
        case .decode: .damaged(wire)
        case .duplicateItem, .revisionMismatch, .leaseLost: .changed(wire)
        case .quotaExceeded: .quota(wire)
        case .tooLarge: .tooLarge(wire)
        case .notAvailable, .busy: .unavailable(wire)
        case .io, .readOnly: .io(wire)
        case .param, .noSuchAttribute, .noSuchClass, .encryptionRequired, .noSession, .policyInvalid:
            .invalid(wire)
        }
    }

    private static func outside(_ wire: ChatelaineError) -> VaultError {
        if wire.isBrokerMissing || wire.name.hasPrefix("org.freedesktop.DBus.Error.Spawn.") {
            return .brokerMissing(wire)
        }
        switch wire.name {
        case "System.Error.ECANCELED": return .cancelled(wire)
        case "org.freedesktop.DBus.Error.AccessDenied": return .notEntitled(wire)
        case "org.freedesktop.DBus.Error.InvalidArgs": return .invalid(wire)
        default: return .interrupted(wire)
        }
    }
}

extension VaultError: CustomStringConvertible {
    /// The error as it came.
    public var description: String { wire.description }
}

extension Refusal {
    /// Bytes that are there and are not what they should be.
    static let notThatKey = Refusal(
        .decode, "What is stored under this account is no key of the type that was asked for.")

    /// A logout came while a secret was on its way.
    static let overtaken = Refusal(
        .leaseLost, "The service was logged out while its secret was fetched; nothing is stored.")
}
