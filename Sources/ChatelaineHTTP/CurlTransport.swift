internal import CCurl
public import Chatelaine
internal import SDBus
public import Sodium

/// Requests by libcurl: certificates verified, TLS 1.2 or later, no redirect followed, no cookies, an end to time and to
/// size. A proxy of the environment (`https_proxy`) is used, but not towards this machine itself.
public struct CurlTransport: HTTPTransport {
    /// What an answer may have; a token response has a few kilobytes.
    static let responseBytesMax = 256 << 10

    private let timeout: Duration
    private let certificates: String?

    /// Makes one.
    /// - Parameters:
    ///   - timeout: for the whole of a request. A ``RefreshGate`` asks up to three times with its refresh token, and a server
    ///     that has rotated it takes the old one for half a minute or so: with the usual 8 seconds the third try is still in
    ///     time.
    ///   - certificates: a file with the authorities to trust; nil for those of the system.
    public init(timeout: Duration = .seconds(8), certificates: String? = nil) {
        self.timeout = timeout
        self.certificates = certificates
    }

    /// Posts the form.
    @concurrent public func post(
        _ form: SharedSecret, to address: HTTPAddress
    ) async throws(TokenServerError) -> HTTPResponse {
        // Zero would mean no end to libcurl.
        let milliseconds = Int(min(max(timeout.microseconds / 1_000, 1), UInt64(Int32.max)))
        let certificates = certificates
        // A request blocks its thread, and has one of its own.
        let outcome = await WorkThread(name: "http").run {
            () -> Result<HTTPResponse, TokenServerError> in
            guard let request = CurlRequest(address, milliseconds, certificates) else {
                return .failure(.unreachable("libcurl could not be started"))
            }
            return request.post(form)
        }
        return try outcome.get()
    }
}
