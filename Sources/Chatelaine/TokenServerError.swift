/// Why a token server gave no tokens. It holds nothing that was sent or that could be a token.
public enum TokenServerError: Error, Sendable, Equatable, CustomStringConvertible {
    /// It answered with this HTTP status, and with an error code of RFC 6749 where it gave one.
    case refused(status: Int, code: String?)
    /// It was not reached, or its answer did not arrive whole; the text says why.
    case unreachable(String)
    /// It granted the request, and its answer is none of RFC 6749's.
    case unreadable

    /// Whether the grant is dead, so that nobody need try again with it: HTTP 400 and 401. Everything else may pass, such
    /// as a proxy that wants a password first or a server that is down.
    public var isRejection: Bool {
        if case .refused(400, _) = self { return true }
        if case .refused(401, _) = self { return true }
        return false
    }

    /// A sentence for a person and for the log.
    public var description: String {
        switch self {
        case .refused(let status, nil): "The token server answered with HTTP \(status)."
        case .refused(let status, let code?): "The token server answered with HTTP \(status), \(code)."
        case .unreachable(let reason): "The token server was not reached: \(reason)."
        case .unreadable: "The token server's answer is no token response of RFC 6749."
        }
    }
}
