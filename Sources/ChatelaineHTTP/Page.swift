/// What the browser is shown: written by us, with nothing in it of what was sent.
enum Page: Equatable {
    case done
    case declined
    case foreign
    case badRequest
    case notFound
    case notGet
    case tooLarge

    private var status: String {
        switch self {
        case .done, .declined: "200 OK"
        case .foreign, .badRequest: "400 Bad Request"
        case .notFound: "404 Not Found"
        case .notGet: "405 Method Not Allowed\r\nAllow: GET"
        case .tooLarge: "431 Request Header Fields Too Large"
        }
    }

    private var text: String {
        switch self {
        case .done: "You are signed in. You may close this window and go back to the program."
        case .declined: "You are not signed in. You may close this window and go back to the program."
        case .foreign: "This is of no sign-in that is going on here. Begin anew in the program."
        case .badRequest, .notFound, .notGet, .tooLarge: "There is nothing here."
        }
    }

    /// The whole answer.
    var bytes: [UInt8] {
        let body = "<!doctype html><meta charset=\"utf-8\"><title>Sign-in</title><p>\(text)</p>\n"
        return Array(
            """
            HTTP/1.1 \(status)\r
            Content-Type: text/html; charset=utf-8\r
            Content-Length: \(body.utf8.count)\r
            Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r
            Referrer-Policy: no-referrer\r
            X-Content-Type-Options: nosniff\r
            Cache-Control: no-store\r
            Connection: close\r
            \r
            \(body)
            """.utf8)
    }
}
