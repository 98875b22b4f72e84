internal import CSodium

/// Keyed hashing: BLAKE2b (RFC 7693).
public enum Blake2b {
    /// A hash of `count` bytes (16 to 64) of the message under the key.
    public static func hash(_ message: [UInt8], key: borrowing Key, count: Int) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { output, filled in
            unsafe key.bytes.span.withUnsafeBufferPointer { key in
                _ = unsafe crypto_generichash(
                    output.baseAddress!, count, message, UInt64(message.count), key.baseAddress!, key.count)
            }
            filled = count
        }
    }

    /// A key made of a key and a message that is itself secret.
    public static func key(_ message: Span<UInt8>, key: borrowing Key) -> Key {
        Key { target in
            unsafe target.withUnsafeMutableBufferPointer { output in
                unsafe message.withUnsafeBufferPointer { message in
                    unsafe key.bytes.span.withUnsafeBufferPointer { key in
                        _ = unsafe crypto_generichash(
                            output.baseAddress!, output.count, message.baseAddress, UInt64(message.count),
                            key.baseAddress!, key.count)
                    }
                }
            }
        }
    }
}
