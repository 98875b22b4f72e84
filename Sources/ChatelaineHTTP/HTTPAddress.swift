internal import CCurl

/// A web address that tokens may be sent to: `https`, or `http` on this machine's loopback (127.0.0.1, [::1]).
public struct HTTPAddress: Sendable, Equatable {
    /// As it was given.
    public let text: String
    /// Whether it is of this machine, so that nothing else is on the way.
    public let isLoopback: Bool

    /// Nil for any other address, and for one with a user, a password, a fragment, or anything but printable ASCII.
    public init?(_ text: String) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), let parts = Parts(text), parts.isPlain else {
            return nil
        }
        isLoopback = ["127.0.0.1", "[::1]"].contains(parts.host)
        guard parts.scheme == "https" || (parts.scheme == "http" && isLoopback) else { return nil }
        self.text = text
    }
}

/// What libcurl, which is going to use it, reads in an address.
private struct Parts {
    let scheme: String
    let host: String
    /// Nobody's name is in it, and no fragment.
    let isPlain: Bool

    init?(_ text: String) {
        guard let address = unsafe curl_url() else { return nil }
        defer { unsafe curl_url_cleanup(address) }
        guard unsafe curl_url_set(address, CURLUPART_URL, text, 0) == CURLUE_OK else { return nil }
        let part = { (part: CURLUPart) -> String? in
            var value: UnsafeMutablePointer<CChar>?
            guard unsafe curl_url_get(address, part, &value, 0) == CURLUE_OK, let value = unsafe value else {
                return nil
            }
            defer { unsafe curl_free(value) }
            return unsafe String(cString: value)
        }
        guard let scheme = part(CURLUPART_SCHEME), let host = part(CURLUPART_HOST) else { return nil }
        self.scheme = scheme
        self.host = host
        isPlain = [CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_FRAGMENT].allSatisfy { part($0) == nil }
    }
}
