import BrokerModel
import ExampleAuthority
import Sodium

/// What the item's secret is: both tokens and when the one expires, by the wall clock of whoever stored it.
struct HeldTokens: Equatable {
    let access: String
    let refresh: String
    let stored: UInt64
    let expires: UInt64

    init(_ tokens: TokenAuthority.Tokens, lifeMicroseconds: UInt64, at wall: UInt64) {
        access = tokens.access
        refresh = tokens.refresh
        stored = wall
        expires = wall + lifeMicroseconds
    }

    init?(_ secret: borrowing Secret) {
        var bytes: [UInt8] = []
        for index in 0..<secret.count { bytes.append(secret.span[index]) }
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        guard parts.count == 4, let stored = UInt64(parts[2]), let expires = UInt64(parts[3]) else {
            return nil
        }
        (access, refresh) = (String(parts[0]), String(parts[1]))
        (self.stored, self.expires) = (stored, expires)
    }

    var secret: SharedSecret {
        SharedSecret(Secret(copying: Array("\(access)\n\(refresh)\n\(stored)\n\(expires)".utf8).span))
    }

    /// Whether it should be renewed by that clock: soon at its end, or stored in what is now the future (B137).
    func isStale(at wall: UInt64, marginMicroseconds: UInt64) -> Bool {
        wall + marginMicroseconds >= expires || wall < stored
    }
}
