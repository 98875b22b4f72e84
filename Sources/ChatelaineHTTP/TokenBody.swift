internal import Chatelaine
internal import Sodium

/// The members of a token server's answer that mean something here (RFC 6749, sections 5.1 and 5.2). A member that comes
/// twice makes the answer unreadable.
struct TokenBody {
    private var texts: [String: SharedSecret] = [:]
    private var lifetime: UInt64?

    /// What a server may leave out, and some write as an empty text (GitHub: `"scope":""`).
    private static let optionalNames: Set<String> = ["refresh_token", "scope"]
    private static let textNames: Set<String> = [
        "access_token", "refresh_token", "token_type", "scope", "error",
    ]

    /// Nil for what is no JSON object.
    init?(_ body: SharedSecret) {
        var reader = JSONReader(body)
        var seen: Set<String> = []
        var texts: [String: SharedSecret] = [:]
        var lifetime: UInt64?
        do throws(JSONReader.Malformed) {
            try reader.wholeObject { (name, reader) throws(JSONReader.Malformed) in
                guard Self.textNames.contains(name) || name == "expires_in" else { return try reader.skip() }
                guard seen.insert(name).inserted else { throw JSONReader.Malformed() }
                if name == "expires_in" {
                    lifetime = try reader.optionalNumber()
                } else {
                    let text = try reader.optionalString()
                    let isLeftOut = text?.secret.count == 0 && Self.optionalNames.contains(name)
                    texts[name] = isLeftOut ? nil : text
                }
            }
        } catch {
            return nil
        }
        self.texts = texts
        self.lifetime = lifetime
    }

    /// The error code, where it is one.
    var errorCode: String? { Text.errorCode(texts["error"]) }

    /// The tokens; nil without an access token and a type, or with anything that no header could carry.
    var response: TokenResponse? {
        guard let accessToken = texts["access_token"], let type = texts["token_type"].flatMap(Text.string),
            texts["error"] == nil,
            texts.values.allSatisfy(Text.isToken)
        else { return nil }
        return TokenResponse(
            accessToken: accessToken, refreshToken: texts["refresh_token"], tokenType: type,
            scope: texts["scope"].flatMap(Text.string), lifetime: lifetime)
    }
}
