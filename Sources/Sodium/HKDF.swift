internal import CSodium

/// Key derivation from a shared secret: HKDF-SHA256 (RFC 5869), from libsodium's HMAC, since the
/// library has no HKDF before 1.0.19.
public enum HKDF {
    /// One output key of 32 bytes, which is one block of SHA-256.
    public static func deriveKey(from secret: borrowing Secret, salt: [UInt8], info: [UInt8]) -> Key {
        let pseudorandomKey = extract(secret.span, salt: salt)
        return authenticate(info + [1], key: pseudorandomKey.bytes.span)
    }

    static func extract(_ secret: Span<UInt8>, salt: [UInt8]) -> Key {
        // RFC 5869, section 2.2: no salt is a block of zeros.
        let salt = salt.isEmpty ? [UInt8](repeating: 0, count: 32) : salt
        return authenticate(secret, key: salt.span)
    }

    private static func authenticate(_ message: [UInt8], key: Span<UInt8>) -> Key {
        authenticate(message.span, key: key)
    }

    private static func authenticate(_ message: Span<UInt8>, key: Span<UInt8>) -> Key {
        var state = crypto_auth_hmacsha256_state()
        defer {
            unsafe withUnsafeMutableBytes(of: &state) { unsafe sodium_memzero($0.baseAddress!, $0.count) }
        }
        return Key { target in
            unsafe key.withUnsafeBufferPointer { key in
                _ = unsafe crypto_auth_hmacsha256_init(&state, key.baseAddress!, key.count)
            }
            unsafe message.withUnsafeBufferPointer { message in
                _ = unsafe crypto_auth_hmacsha256_update(&state, message.baseAddress, UInt64(message.count))
            }
            unsafe target.withUnsafeMutableBufferPointer { output in
                _ = unsafe crypto_auth_hmacsha256_final(&state, output.baseAddress!)
            }
        }
    }
}
