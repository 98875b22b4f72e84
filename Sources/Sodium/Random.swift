internal import CSodium

/// The system's random source.
public enum Random {
    /// `count` random bytes that are no secret: nonces, salts, references.
    public static func bytes(_ count: Int) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            if count > 0 { unsafe randombytes_buf(buffer.baseAddress!, count) }
            filled = count
        }
    }
}
