public import Sodium

/// An access token as a ``RefreshGate`` hands it out.
public struct AccessToken: Sendable {
    /// What the service is shown.
    public let secret: SharedSecret
    /// How, such as `Bearer`.
    public let type: String
    /// When it ends, in microseconds since the Unix epoch; nil where the server did not say.
    public let expires: UInt64?
    /// The revision of the item that it comes from.
    public let revision: UInt64

    init(_ tokens: SessionTokens, revision: UInt64) {
        secret = tokens.accessToken
        type = tokens.tokenType
        expires = tokens.expires
        self.revision = revision
    }
}

extension AccessToken: CustomStringConvertible, CustomDebugStringConvertible {
    /// Says which it is, and nothing of what it is.
    public var description: String { "AccessToken(revision \(revision))" }

    /// The same.
    public var debugDescription: String { description }
}
