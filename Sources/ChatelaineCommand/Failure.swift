internal import BrokerModel
internal import Chatelaine
internal import Console

/// The exit statuses of chatelaine(1).
enum ExitCode: Int32 {
    case done = 0
    case notFound = 1
    case usage = 2
    case denied = 3
    case locked = 4
    case failed = 5
}

/// Why the command could not do what it was asked for.
struct Failure: Error, Equatable {
    /// How it ends.
    let code: ExitCode
    /// One line for a person, without a secret; empty where all has been said.
    let text: String

    init(_ code: ExitCode, _ text: String) {
        self.code = code
        self.text = text
    }

    /// Arguments that make no sense, and where to read about it.
    static func usage(_ text: String, _ verb: Verb? = nil) -> Failure {
        Failure(.usage, "\(text); see chatelaine \(verb.map { "\($0.rawValue) " } ?? "")--help")
    }

    /// What the broker or the bus said.
    init(_ error: ChatelaineError) {
        let advice =
            error.isBrokerMissing
            ? "; no broker runs on this bus and none can be started: systemctl --user start chatelained" : ""
        self.init(ExitCode(error.kind), error.description.printable + advice)
    }
}

extension ExitCode {
    /// By the contract's error; nil is an error of the bus.
    init(_ kind: Refusal.Kind?) {
        switch kind {
        case .itemNotFound: self = .notFound
        case .param, .noSuchAttribute, .noSuchClass: self = .usage
        case .missingEntitlement, .accessDenied, .authFailed, .userCanceled, .identityUnavailable:
            self = .denied
        case .interactionNotAllowed: self = .locked
        case .duplicateItem, .notAvailable, .readOnly, .tooLarge, .decode, .io, .revisionMismatch, .leaseLost,
            .busy, .encryptionRequired, .noSession, .quotaExceeded, .policyInvalid, nil:
            self = .failed
        }
    }
}
