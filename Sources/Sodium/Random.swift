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

    /// A number that nobody can guess, for what is told to one other alone: the number of a question. No key.
    public static func number() -> UInt64 { bytes(8).reduce(0) { $0 << 8 | UInt64($1) } }
}
