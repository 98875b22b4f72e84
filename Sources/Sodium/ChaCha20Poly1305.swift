internal import CSodium

/// Authenticated encryption on the wire: ChaCha20-Poly1305 (RFC 8439) with a nonce that the caller counts.
public enum ChaCha20Poly1305 {
    /// The length of the tag behind a ciphertext.
    public static let tagBytes = 16
    /// The length of a nonce.
    public static let nonceBytes = 12

    /// Encrypts straight into `target`, which has `plaintext.count + tagBytes` bytes. A key must never
    /// see one nonce twice.
    public static func seal(
        _ plaintext: Span<UInt8>, key: borrowing Key, nonce: [UInt8], associatedData: [UInt8],
        into target: inout MutableSpan<UInt8>
    ) {
        precondition(nonce.count == nonceBytes && target.count == plaintext.count + tagBytes)
        unsafe target.withUnsafeMutableBufferPointer { output in
            unsafe plaintext.withUnsafeBufferPointer { message in
                unsafe key.bytes.span.withUnsafeBufferPointer { key in
                    _ = unsafe crypto_aead_chacha20poly1305_ietf_encrypt(
                        output.baseAddress!, nil, message.baseAddress, UInt64(message.count),
                        associatedData, UInt64(associatedData.count), nil, nonce, key.baseAddress!)
                }
            }
        }
    }

    /// Opens what lies in secret memory.
    public static func open(
        _ sealed: borrowing Secret, key: borrowing Key, nonce: [UInt8], associatedData: [UInt8]
    ) -> Secret? {
        open(sealed.span, key: key, nonce: nonce, associatedData: associatedData)
    }

    /// Nil for a bad tag, a short text or a nonce of another length.
    public static func open(
        _ sealed: Span<UInt8>, key: borrowing Key, nonce: [UInt8], associatedData: [UInt8]
    ) -> Secret? {
        guard sealed.count >= tagBytes, nonce.count == nonceBytes else { return nil }
        var isAuthentic = false
        let plaintext = Secret(count: sealed.count - tagBytes) { target in
            unsafe target.withUnsafeMutableBufferPointer { output in
                unsafe sealed.withUnsafeBufferPointer { input in
                    unsafe key.bytes.span.withUnsafeBufferPointer { key in
                        isAuthentic =
                            unsafe crypto_aead_chacha20poly1305_ietf_decrypt(
                                output.baseAddress, nil, nil, input.baseAddress!, UInt64(input.count),
                                associatedData, UInt64(associatedData.count), nonce, key.baseAddress!)
                            == 0
                    }
                }
            }
        }
        guard isAuthentic else { return nil }
        return plaintext
    }
}
