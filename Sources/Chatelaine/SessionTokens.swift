public import Sodium

/// What a token server gave: an access token, mostly a refresh token to get the next one with, and until when the first
/// is good. All of it is the secret of one item, so that its parts never come from two answers.
public struct SessionTokens: Sendable {
    /// What a service is shown.
    public let accessToken: SharedSecret
    /// What the token server is shown for the next access token; nil where it gave none.
    public let refreshToken: SharedSecret?
    /// How a service is shown the access token, such as `Bearer`.
    public let tokenType: String
    /// What the access token is good for, as the server said it.
    public let scope: String?
    /// When the token server was asked, in microseconds since the Unix epoch.
    public let stored: UInt64
    /// When the access token ends, in microseconds since the Unix epoch; nil where the server did not say.
    public let expires: UInt64?

    /// Takes them together.
    public init(
        accessToken: SharedSecret, refreshToken: SharedSecret? = nil, tokenType: String = "Bearer",
        scope: String? = nil, stored: UInt64, expires: UInt64? = nil
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.tokenType = tokenType
        self.scope = scope
        self.stored = stored
        self.expires = expires
    }

    /// The tokens of an answer. A server that gives no new refresh token, or no scope, means that the old one holds.
    public init(_ response: TokenResponse, replacing old: SessionTokens? = nil, asked: UInt64) {
        self.init(
            accessToken: response.accessToken, refreshToken: response.refreshToken ?? old?.refreshToken,
            tokenType: response.tokenType, scope: response.scope ?? old?.scope, stored: asked,
            expires: response.lifetime.map { Self.end(of: $0, from: asked) })
    }

    /// Whether the access token is good for longer than `leeway`, of which at most half of its life counts. Stored in
    /// the future means that the clock was set, and that nobody knows how old it is: not fresh.
    public func isFresh(at now: UInt64, leeway: Duration) -> Bool {
        guard stored <= now else { return false }
        guard let expires else { return true }
        guard expires > now else { return false }
        return expires - now > min(leeway.microseconds, (expires - stored) / 2)
    }

    /// The attributes of the item that tell the broker what it may know: `FreshUntil` where a refresh token is, which an
    /// `Expires` would take along, else `Expires`.
    public func attributes(at now: UInt64) -> Attributes {
        var attributes = Attributes()
        guard let expires else { return attributes }
        if refreshToken != nil {
            attributes["FreshUntil"] = .counter(expires)
        } else if expires > now {
            attributes["Expires"] = .counter(expires)
        }
        return attributes
    }

    // A century is for ever, and far from where the sum would overflow.
    private static let lifetimeMax: UInt64 = 100 * 365 * 86_400

    private static func end(of lifetime: UInt64, from start: UInt64) -> UInt64 {
        start.adding(min(lifetime, lifetimeMax) * 1_000_000)
    }
}

extension SessionTokens: CustomStringConvertible, CustomDebugStringConvertible {
    /// Says what is there, and nothing of what it is.
    public var description: String {
        "SessionTokens(access token, \(refreshToken == nil ? "no" : "a") refresh token)"
    }

    /// The same.
    public var debugDescription: String { description }
}
