public import Sodium

/// A token server's answer to a request that it granted (RFC 6749, section 5.1).
public struct TokenResponse: Sendable {
    /// What a service is shown.
    public let accessToken: SharedSecret
    /// The next refresh token; nil means that the one that was used stays good.
    public let refreshToken: SharedSecret?
    /// How a service is shown the access token, such as `Bearer`.
    public let tokenType: String
    /// What was granted; nil means what was asked for.
    public let scope: String?
    /// For how many seconds the access token is good; nil where the server did not say.
    public let lifetime: UInt64?

    /// Takes them together. An empty refresh token or scope is none: that is how some servers write it.
    public init(
        accessToken: SharedSecret, refreshToken: SharedSecret? = nil, tokenType: String = "Bearer",
        scope: String? = nil, lifetime: UInt64? = nil
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken?.secret.count == 0 ? nil : refreshToken
        self.tokenType = tokenType
        self.scope = scope?.isEmpty == true ? nil : scope
        self.lifetime = lifetime
    }
}

extension TokenResponse: CustomStringConvertible, CustomDebugStringConvertible {
    /// Says what is there, and nothing of what it is.
    public var description: String {
        "TokenResponse(access token, \(refreshToken == nil ? "no" : "a") refresh token)"
    }

    /// The same.
    public var debugDescription: String { description }
}
