internal import CCurl
internal import Chatelaine
internal import Sodium

/// One request, on the thread that makes it.
@safe final class CurlRequest {
    private static let isStarted = chatelaine_curl_start() == CURLE_OK

    private let curl: UnsafeMutableRawPointer
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var refused: CURLcode = CURLE_OK

    /// Nil where libcurl has no memory, or does not know an option that safety hangs on.
    init?(_ address: HTTPAddress, _ milliseconds: Int, _ certificates: String?) {
        guard Self.isStarted, let curl = unsafe curl_easy_init() else { return nil }
        unsafe self.curl = curl
        set(CURLOPT_URL, address.text)
        set(CURLOPT_PROTOCOLS_STR, address.isLoopback ? "http,https" : "https")
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_SSL_VERIFYPEER, 1)
        set(CURLOPT_SSL_VERIFYHOST, 2)
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        set(CURLOPT_NETRC, 0)
        set(CURLOPT_TIMEOUT_MS, milliseconds)
        set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds)
        // Signals are the loop's, not a resolver's.
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_FORBID_REUSE, 1)
        if address.isLoopback { set(CURLOPT_NOPROXY, "*") }
        if let certificates { set(CURLOPT_CAINFO, certificates) }
        for header in ["Content-Type: application/x-www-form-urlencoded", "Accept: application/json"] {
            unsafe headers = curl_slist_append(headers, header)
        }
        unsafe set(CURLOPT_HTTPHEADER, UnsafeRawPointer(headers))
        guard refused == CURLE_OK else { return nil }
    }

    deinit {
        unsafe curl_easy_cleanup(curl)
        unsafe curl_slist_free_all(headers)
    }

    func post(_ form: SharedSecret) -> Result<HTTPResponse, TokenServerError> {
        let received = ResponseBody()
        let code = send(form.secret, received)
        if received.isTooLarge { return .failure(.unreachable("its answer is too large")) }
        guard code == CURLE_OK else {
            return .failure(.unreachable(unsafe String(cString: curl_easy_strerror(code))))
        }
        var status = 0
        unsafe chatelaine_curl_status(curl, &status)
        return .success(HTTPResponse(status: status, body: received.joined()))
    }

    private func send(_ form: borrowing Secret, _ received: ResponseBody) -> CURLcode {
        unsafe form.span.withUnsafeBufferPointer { form in
            set(CURLOPT_POSTFIELDSIZE, form.count)
            // libcurl reads it where it is. A null pointer, of an empty form, would mean another source.
            unsafe set(CURLOPT_POSTFIELDS, form.baseAddress.map { unsafe UnsafeRawPointer($0) })
            unsafe set(CURLOPT_WRITEDATA, Unmanaged.passUnretained(received).toOpaque())
            unsafe chatelaine_curl_set_writer(curl, received.writer)
            return refused == CURLE_OK ? unsafe curl_easy_perform(curl) : refused
        }
    }

    private func set(_ option: CURLoption, _ value: Int) {
        note(unsafe chatelaine_curl_set_long(curl, option, value))
    }

    // libcurl copies a text.
    private func set(_ option: CURLoption, _ value: String) {
        note(unsafe value.withCString { unsafe chatelaine_curl_set_pointer(curl, option, $0) })
    }

    @unsafe private func set(_ option: CURLoption, _ value: UnsafeRawPointer?) {
        note(unsafe chatelaine_curl_set_pointer(curl, option, value))
    }

    private func note(_ code: CURLcode) {
        if code != CURLE_OK { refused = code }
    }
}
