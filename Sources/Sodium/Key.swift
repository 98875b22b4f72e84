internal import CSodium

/// A 32-byte secret key. Move-only, so that who may use it can be seen from who holds it.
public struct Key: ~Copyable, Sendable {
    /// The 32 bytes.
    public let bytes: Secret

    /// The length of every key of ours.
    public static let byteCount = 32

    /// Nil unless there are 32 bytes.
    public init?(_ bytes: consuming Secret) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// 32 bytes that `fill` writes.
    init<Failure: Error>(_ fill: (inout MutableSpan<UInt8>) throws(Failure) -> Void) throws(Failure) {
        bytes = try Secret(count: Self.byteCount, fill)
    }

    /// A new key from the system's random source.
    public static func random() -> Key {
        Key { span in unsafe span.withUnsafeMutableBytes { unsafe randombytes_buf($0.baseAddress!, $0.count) }
        }
    }

    /// The same key in memory of its own.
    public borrowing func duplicate() -> Key { Key(copying: bytes.span) }

    private init(copying span: Span<UInt8>) { bytes = Secret(copying: span) }

    /// A key for another purpose, by libsodium's key derivation (BLAKE2b). `context` has 8 ASCII
    /// characters; the same context and number give the same key.
    public borrowing func subkey(_ number: UInt64, context: StaticString) -> Key {
        precondition(context.utf8CodeUnitCount == Int(crypto_kdf_CONTEXTBYTES))
        return Key { target in
            unsafe target.withUnsafeMutableBufferPointer { output in
                unsafe bytes.span.withUnsafeBufferPointer { key in
                    _ = unsafe context.utf8Start.withMemoryRebound(to: CChar.self, capacity: 8) {
                        unsafe crypto_kdf_derive_from_key(
                            output.baseAddress!, output.count, number, $0, key.baseAddress!)
                    }
                }
            }
        }
    }
}
