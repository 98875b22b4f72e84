import BrokerModel
import Chatelaine
import ExampleAuthority
import Sodium

// The library's own tokens, as its gate makes, stores and reads them; only the bus is not there to carry them.
extension SessionTokens {
    /// What an answer of the server comes to.
    init(
        _ answer: TokenAuthority.Tokens, replacing old: SessionTokens? = nil, lifeMicroseconds: UInt64,
        asked: UInt64
    ) {
        self.init(
            TokenResponse(
                accessToken: SharedSecret(Secret(copying: Array(answer.access.utf8).span)),
                refreshToken: SharedSecret(Secret(copying: Array(answer.refresh.utf8).span)),
                lifetime: lifeMicroseconds / 1_000_000),
            replacing: old, asked: asked)
    }

    /// The access token, for the server of the simulation.
    var access: String { Self.text(accessToken.secret) }

    /// The same of the refresh token.
    var refresh: String { refreshToken.map { Self.text($0.secret) } ?? "" }

    /// The library's attributes for the item, added to others.
    func attributes(at wall: UInt64, addedTo item: WireDictionary) throws(CallFailure) -> WireDictionary {
        var item = item
        guard case .counter(let time) = attributes(at: wall)["FreshUntil"] else { return item }
        do throws(Refusal) {
            try item.append("FreshUntil", .time(time))
        } catch {
            throw .refused(error)
        }
        return item
    }

    private static func text(_ secret: borrowing Secret) -> String {
        var bytes: [UInt8] = []
        for index in 0..<secret.count { bytes.append(secret.span[index]) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
