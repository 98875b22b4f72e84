internal import CSodium

/// Hashing without a key: SHA-256 (FIPS 180-4), for protocols that ask for it.
public enum SHA256 {
    /// The hash, 32 bytes.
    public static func hash(_ message: borrowing Secret) -> [UInt8] {
        let span = message.span
        return unsafe [UInt8](unsafeUninitializedCapacity: Int(crypto_hash_sha256_BYTES)) { output, filled in
            unsafe span.withUnsafeBufferPointer { message in
                _ = unsafe crypto_hash_sha256(
                    output.baseAddress!, message.baseAddress, UInt64(message.count))
            }
            filled = output.count
        }
    }
}
