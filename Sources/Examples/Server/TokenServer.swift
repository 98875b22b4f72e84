import DemoKit
import ExampleAuthority
import SDBus
import Synchronization

/// The rules, spoken over HTTP.
///
/// `POST /sign-in` stands for what a person does in a browser, and gives the first tokens. `POST /token` is the
/// token endpoint (RFC 6749, section 6). `GET /mail` wants an access token. `GET /statistics` and `GET /exchanges`
/// say what happened, and `POST /expire` takes all access tokens out of force.
final class TokenServer: Sendable {
    private let authority: Mutex<TokenAuthority>
    private let delayMicroseconds: UInt64

    init(_ options: Options, random: @escaping @Sendable () -> String) {
        authority = Mutex(TokenAuthority(options.rules, random: random))
        delayMicroseconds = options.delayMicroseconds
    }

    private var now: UInt64 { EventClock.monotonic.now }

    func answer(_ request: HTTPMessage) -> HTTPMessage {
        switch request.words.prefix(2) {
        case ["POST", "/sign-in"]: Self.json(200, tokens(authority.withLock { $0.signIn(at: now) }))
        case ["POST", "/token"]: refresh(Form.fields(request.text))
        case ["GET", "/mail"]: mail(request.headers["authorization"] ?? "")
        case ["GET", "/statistics"]: Self.json(200, statistics())
        case ["GET", "/exchanges"]: Self.json(200, exchanges())
        case ["POST", "/expire"]: expire()
        default: Self.json(404, #"{"error":"not_found"}"#)
        }
    }

    private func refresh(_ form: [String: String]) -> HTTPMessage {
        guard form["grant_type"] == "refresh_token", let token = form["refresh_token"] else {
            return Self.json(400, #"{"error":"invalid_request"}"#)
        }
        Pause.sleep(microseconds: delayMicroseconds)
        let next = authority.withLock { $0.refresh(token, at: now) }
        Pause.sleep(microseconds: delayMicroseconds)
        guard let next else { return Self.json(400, #"{"error":"invalid_grant"}"#) }
        return Self.json(200, tokens(next))
    }

    private func mail(_ authorization: String) -> HTTPMessage {
        let bearer = "Bearer "
        let isOpen =
            authorization.hasPrefix(bearer)
            && authority.withLock { $0.opens(String(authorization.dropFirst(bearer.count)), at: now) }
        return isOpen
            ? Self.json(200, #"{"unread":3}"#) : Self.json(401, #"{"error":"invalid_token"}"#)
    }

    private func expire() -> HTTPMessage {
        authority.withLock { $0.expireAccess() }
        return Self.json(200, #"{"access_tokens":"expired"}"#)
    }

    private func tokens(_ tokens: TokenAuthority.Tokens) -> String {
        let seconds = authority.withLock { $0.rules.accessMicroseconds } / 1_000_000
        return """
            {"access_token":"\(tokens.access)","token_type":"Bearer","expires_in":\(seconds),\
            "refresh_token":"\(tokens.refresh)"}
            """
    }

    private func statistics() -> String {
        authority.withLock {
            """
            {"sign_ins":\($0.familyCount),"refreshes":\($0.count(.rotated)),"repeated":\($0.count(.repeated)),\
            "reused":\($0.count(.reused)),"refused":\($0.count(.dead)),"families_revoked":\($0.revokedCount)}
            """
        }
    }

    private func exchanges() -> String {
        let all = authority.withLock { $0.exchanges }.map {
            #"{"time":\#($0.time),"family":\#($0.family),"generation":\#($0.generation),"outcome":"\#($0.outcome)"}"#
        }
        return "[" + all.joined(separator: ",\n") + "]"
    }

    private static func json(_ status: Int, _ body: String) -> HTTPMessage {
        let reasons = [200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found"]
        return HTTPMessage(
            "HTTP/1.1 \(status) \(reasons[status] ?? "Error")",
            headers: ["content-type": "application/json", "cache-control": "no-store"], body: body)
    }
}
