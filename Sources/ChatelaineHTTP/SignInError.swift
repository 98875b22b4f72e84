public import Chatelaine

/// Why a sign-in came to nothing. It holds nothing that the browser or the server sent but error codes of RFC 6749.
public enum SignInError: Error, Sendable, CustomStringConvertible {
    /// No browser could be opened.
    case noBrowser
    /// No port of this machine could be listened on.
    case noPort
    /// Nobody came back from the browser in time.
    case timedOut
    /// In time nobody came back but somebody with another sign-in's state, or none: what they brought was not used.
    case foreignState
    /// The server, or the person in front of the browser, said no: the code, such as `access_denied`.
    case refused(code: String?)
    /// The code could not be exchanged for tokens.
    case server(TokenServerError)
    /// The tokens could not be stored; the person has to sign in again.
    case vault(VaultError)

    /// A sentence for a person.
    public var description: String {
        switch self {
        case .noBrowser: "No web browser could be opened."
        case .noPort: "This machine gives no port to come back to from the browser."
        case .timedOut: "Nobody came back from the browser in time."
        case .foreignState: "What came back from the browser was of no sign-in of this program."
        case .refused(nil): "The sign-in was refused."
        case .refused(let code?): "The sign-in was refused: \(code)."
        case .server(let error): error.description
        case .vault(let error): "The tokens could not be stored: \(error)"
        }
    }
}
