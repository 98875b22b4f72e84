internal import BrokerModel

/// Why there is no access token.
public enum RefreshError: Error, Sendable, CustomStringConvertible {
    /// Only a new sign-in helps: nobody is signed in, the grant is dead, or there is no refresh token.
    case signInNeeded
    /// Somebody else is refreshing and has taken longer than the gate's patience. No licence to refresh: ask again.
    case busy
    /// The token server could not be asked; ask again later. What the program's closure threw.
    case unavailable(any Error)
    /// The token server gave new tokens, and the broker could not store them yet. The gate keeps them; the next call
    /// begins by storing them, and uses no older ones.
    case notStored(VaultError)
    /// The item could not be had: it is locked or damaged, or there is no broker.
    case vault(VaultError)

    init(_ error: VaultError) {
        switch error.wire.kind {
        case .itemNotFound: self = .signInNeeded
        case .busy: self = .busy
        default: self = .vault(error)
        }
    }

    /// A sentence for a person. Of the program's own error it has nothing, since that may hold anything.
    public var description: String {
        switch self {
        case .signInNeeded: "There are no tokens that could be renewed: sign in again."
        case .busy: "Another process is still renewing the tokens: ask again."
        case .unavailable(let error as TokenServerError): error.description
        case .unavailable: "The token server could not be asked: try again later."
        case .notStored(let error): "The new tokens are not stored yet: \(error)"
        case .vault(let error): error.description
        }
    }
}
