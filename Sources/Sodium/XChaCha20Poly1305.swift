internal import CSodium

/// Authenticated encryption at rest: XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03) with a random nonce.
///
/// A sealed value is nonce (24 bytes) ‖ ciphertext ‖ tag (16 bytes).
public enum XChaCha20Poly1305 {
    /// How much longer a sealed value is than what it seals.
    public static let overhead = nonceBytes + tagBytes

    static let nonceBytes = 24
    private static let tagBytes = 16

    /// Seals under a nonce of its own, so one key may seal any number of values.
    public static func seal(
        _ plaintext: Span<UInt8>, key: borrowing Key, associatedData: [UInt8]
    ) -> [UInt8] {
        seal(plaintext, key: key, nonce: Random.bytes(nonceBytes), associatedData: associatedData)
    }

    /// Seals a secret.
    public static func seal(
        _ plaintext: borrowing Secret, key: borrowing Key, associatedData: [UInt8]
    ) -> [UInt8] {
        seal(plaintext.span, key: key, associatedData: associatedData)
    }

    static func seal(
        _ plaintext: Span<UInt8>, key: borrowing Key, nonce: [UInt8], associatedData: [UInt8]
    ) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: plaintext.count + overhead) { output, filled in
            unsafe _ = output.update(fromContentsOf: nonce)
            let target = unsafe output.baseAddress! + nonceBytes
            unsafe plaintext.withUnsafeBufferPointer { message in
                unsafe key.bytes.span.withUnsafeBufferPointer { key in
                    _ = unsafe crypto_aead_xchacha20poly1305_ietf_encrypt(
                        target, nil, message.baseAddress, UInt64(message.count), associatedData,
                        UInt64(associatedData.count), nil, nonce, key.baseAddress!)
                }
            }
            filled = plaintext.count + overhead
        }
    }

    /// Nil unless the value was sealed with this key and this associated data and is whole.
    public static func open(
        _ sealed: Span<UInt8>, key: borrowing Key, associatedData: [UInt8]
    ) -> Secret? {
        guard sealed.count >= overhead else { return nil }
        var isAuthentic = false
        let plaintext = Secret(count: sealed.count - overhead) { target in
            unsafe target.withUnsafeMutableBufferPointer { output in
                unsafe sealed.withUnsafeBufferPointer { input in
                    unsafe key.bytes.span.withUnsafeBufferPointer { key in
                        isAuthentic =
                            unsafe crypto_aead_xchacha20poly1305_ietf_decrypt(
                                output.baseAddress, nil, nil, input.baseAddress! + nonceBytes,
                                UInt64(input.count - nonceBytes), associatedData,
                                UInt64(associatedData.count), input.baseAddress!, key.baseAddress!) == 0
                    }
                }
            }
        }
        guard isAuthentic else { return nil }
        return plaintext
    }
}
