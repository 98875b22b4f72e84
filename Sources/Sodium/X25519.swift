internal import CSodium

/// Key agreement: X25519 (RFC 7748).
public struct X25519KeyPair: ~Copyable, Sendable {
    /// The private scalar.
    public let privateKey: Key
    /// The 32 bytes that the other side gets.
    public let publicKey: [UInt8]

    /// A new pair.
    public init() { self.init(privateKey: Key.random()) }

    /// The pair of a private scalar.
    public init(privateKey: consuming Key) {
        publicKey = unsafe [UInt8](unsafeUninitializedCapacity: Key.byteCount) { output, filled in
            unsafe privateKey.bytes.span.withUnsafeBufferPointer { scalar in
                _ = unsafe crypto_scalarmult_base(output.baseAddress!, scalar.baseAddress!)
            }
            filled = Key.byteCount
        }
        self.privateKey = privateKey
    }

    /// The shared secret with the holder of `peer`. Nil for a key of another length, and for one of low
    /// order, which would make the secret zero (RFC 7748, section 6.1).
    public borrowing func sharedSecret(with peer: [UInt8]) -> Secret? {
        guard peer.count == Key.byteCount else { return nil }
        var succeeded = false
        let shared = Secret(count: Key.byteCount) { target in
            unsafe target.withUnsafeMutableBufferPointer { output in
                unsafe privateKey.bytes.span.withUnsafeBufferPointer { scalar in
                    succeeded =
                        unsafe crypto_scalarmult(output.baseAddress!, scalar.baseAddress!, peer) == 0
                }
            }
        }
        guard succeeded else { return nil }
        return shared
    }
}
