internal import Sodium

/// What proves that the program that spends a code is the one that asked for it (PKCE, RFC 7636).
struct ProofKey {
    /// What the program keeps, and shows with the code: 43 characters of 32 random bytes.
    let verifier: SharedSecret
    /// Its hash, which goes with the first request; the method is `S256`.
    let challenge: String

    init() { self.init(verifier: Base64URL.random()) }

    init(verifier: SharedSecret) {
        self.verifier = verifier
        let hash = SharedSecret(Secret(copying: SHA256.hash(verifier.secret).span))
        challenge = Text.string(Base64URL.encode(hash))!
    }
}

/// The letters of RFC 4648, section 5, without padding.
enum Base64URL {
    private static let letters = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// 43 characters from the system's random source, which nobody can guess.
    static func random() -> SharedSecret { encode(SharedSecret(Key.random().bytes.duplicate())) }

    static func encode(_ bytes: SharedSecret) -> SharedSecret { SharedSecret(encode(bytes.secret)) }

    private static func encode(_ bytes: borrowing Secret) -> Secret {
        let span = bytes.span
        return Secret(count: (span.count * 8 + 5) / 6) { target in
            for place in target.indices {
                let bit = place * 6
                let first = UInt16(span[bit / 8]) << 8
                let second = bit / 8 + 1 < span.count ? UInt16(span[bit / 8 + 1]) : 0
                target[place] = letters[Int((first | second) >> UInt16(10 - bit % 8)) & 63]
            }
        }
    }
}
