internal import CSodium

/// Sealing for the holder of a private key, by whoever has the public one: libsodium's `crypto_box_seal` (X25519 with a
/// pair made for the one box, XSalsa20-Poly1305). Nobody learns who sealed it; what it belongs to stands in its content.
public enum SealedBox {
    /// How much longer a box is than its content.
    public static let overhead = crypto_box_sealbytes()

    /// Nil for a public key of another length, or one of low order.
    public static func seal(_ content: borrowing Secret, to publicKey: [UInt8]) -> [UInt8]? {
        guard publicKey.count == Key.byteCount else { return nil }
        var isSealed = false
        let box = unsafe [UInt8](unsafeUninitializedCapacity: content.count + overhead) { output, filled in
            unsafe content.span.withUnsafeBufferPointer { content in
                isSealed =
                    unsafe crypto_box_seal(
                        output.baseAddress!, content.baseAddress, UInt64(content.count), publicKey) == 0
            }
            filled = content.count + overhead
        }
        return isSealed ? box : nil
    }

    /// Nil unless the box was sealed to this pair and is whole.
    public static func open(_ box: [UInt8], with pair: borrowing X25519KeyPair) -> Secret? {
        guard box.count >= overhead else { return nil }
        var isAuthentic = false
        let content = Secret(count: box.count - overhead) { target in
            unsafe target.withUnsafeMutableBufferPointer { output in
                unsafe pair.privateKey.bytes.span.withUnsafeBufferPointer { key in
                    isAuthentic =
                        unsafe crypto_box_seal_open(
                            output.baseAddress, box, UInt64(box.count), pair.publicKey, key.baseAddress!)
                        == 0
                }
            }
        }
        guard isAuthentic else { return nil }
        return content
    }
}
