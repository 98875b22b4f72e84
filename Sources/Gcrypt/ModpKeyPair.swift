internal import CGcrypt
public import Sodium

/// Key agreement in the 1024-bit MODP group (RFC 2409, section 6.2), which the Secret Service's one encrypted algorithm
/// asks for. It keeps a listener on the bus out, and nobody who can break 1,024 bits.
@safe public struct ModpKeyPair: ~Copyable {
    /// What the other side gets: 128 bytes, big-endian.
    public let publicKey: [UInt8]
    private let exponent: Secret

    /// The length of the group's numbers.
    public static let byteCount = 128

    /// A new pair. Nil where libgcrypt cannot be used.
    public init?() {
        // Twice the strength of the group is enough of an exponent (RFC 3526, section 8).
        self.init(exponent: Secret(copying: Random.bytes(32).span))
    }

    /// The pair of an exponent, big-endian.
    init?(exponent: consuming Secret) {
        guard let generator = Number([2]), let result = Number.power(generator, exponent.span) else {
            return nil
        }
        publicKey = result.bytes
        self.exponent = exponent
    }

    /// The 128 bytes of the shared secret with the holder of `peer`, padded with zeros in front. Nil for a key that is
    /// longer than the group's numbers, and for 0, 1, p - 1 and what lies beyond, which would fix the secret.
    public borrowing func sharedSecret(with peer: [UInt8]) -> Secret? {
        guard peer.count <= Self.byteCount, let key = Number(peer), key.isPublicKey,
            let shared = Number.power(key, exponent.span)
        else { return nil }
        return shared.secret
    }
}
