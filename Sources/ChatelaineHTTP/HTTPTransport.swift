public import Chatelaine
public import Sodium

/// What carries a request to a token server. ``CurlTransport`` does; a program may bring its own.
///
/// A transport verifies who answers, follows no redirect, and keeps nothing of a body.
public protocol HTTPTransport: Sendable {
    /// Sends a form (`application/x-www-form-urlencoded`) with POST, and gives the answer whatever its status. It throws
    /// ``TokenServerError/unreachable(_:)`` when there is none.
    @concurrent func post(
        _ form: SharedSecret, to address: HTTPAddress
    ) async throws(TokenServerError) -> HTTPResponse
}

/// A web server's answer.
public struct HTTPResponse: Sendable {
    /// Such as 200.
    public let status: Int
    /// All of it.
    public let body: SharedSecret

    /// Takes them together.
    public init(status: Int, body: SharedSecret) {
        self.status = status
        self.body = body
    }
}
