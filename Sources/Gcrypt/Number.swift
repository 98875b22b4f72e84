internal import CGcrypt
internal import Sodium

/// A number of the 1024-bit MODP group, in libgcrypt's memory; wiped on release where it is secret.
@safe struct Number: ~Copyable {
    private let value: gcry_mpi_t

    private init(_ value: gcry_mpi_t) { unsafe self.value = value }

    /// A number that is no secret, big-endian.
    init?(_ bytes: [UInt8]) {
        guard Library.isReady else { return nil }
        var value: gcry_mpi_t?
        guard unsafe gcry_mpi_scan(&value, GCRYMPI_FMT_USG, bytes, bytes.count, nil) == 0,
            let value = unsafe value
        else { return nil }
        unsafe self.init(value)
    }

    deinit { unsafe gcry_mpi_release(value) }

    /// `base` to the power of a secret exponent, itself a secret.
    static func power(_ base: borrowing Number, _ exponent: Span<UInt8>) -> Number? {
        guard let prime = Number(groupPrime), let result = unsafe gcry_mpi_snew(1024) else { return nil }
        let power = unsafe Number(result)
        var secret: gcry_mpi_t?
        guard let bytes = unsafe gcry_malloc_secure(exponent.count) else { return nil }
        defer { unsafe gcry_free(bytes) }
        for index in exponent.indices {
            unsafe bytes.storeBytes(of: exponent[index], toByteOffset: index, as: UInt8.self)
        }
        // From secure memory it becomes a number in secure memory.
        guard unsafe gcry_mpi_scan(&secret, GCRYMPI_FMT_USG, bytes, exponent.count, nil) == 0,
            let secret = unsafe secret
        else { return nil }
        defer { unsafe gcry_mpi_release(secret) }
        unsafe gcry_mpi_powm(power.value, base.value, secret, prime.value)
        return power
    }

    /// Whether it may be somebody's public key: from 2 to p - 2.
    var isPublicKey: Bool {
        guard let prime = Number(Self.groupPrime) else { return false }
        guard let last = unsafe gcry_mpi_new(1024) else { return false }
        defer { unsafe gcry_mpi_release(last) }
        unsafe gcry_mpi_sub_ui(last, prime.value, 1)
        return unsafe gcry_mpi_cmp_ui(value, 1) > 0 && gcry_mpi_cmp(value, last) < 0
    }

    /// 128 bytes, with zeros in front.
    var bytes: [UInt8] {
        let secret = secret
        return [UInt8](capacity: secret.count) { output in
            for index in secret.span.indices { output.append(secret.span[index]) }
        }
    }

    /// The same, as a secret.
    var secret: Secret {
        Secret(count: ModpKeyPair.byteCount) { target in
            unsafe target.withUnsafeMutableBufferPointer { output in
                var written = 0
                guard let base = output.baseAddress else { return }
                _ = unsafe gcry_mpi_print(GCRYMPI_FMT_USG, base, output.count, &written, value)
                guard written < output.count else { return }
                let padding = output.count - written
                unsafe (base + padding).update(from: base, count: written)
                unsafe base.update(repeating: 0, count: padding)
            }
        }
    }

    /// The prime of the second Oakley group, 2^1024 - 2^960 - 1 + 2^64 * ([2^894 pi] + 129093).
    private static let groupPrime: [UInt8] = [
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xc9, 0x0f, 0xda, 0xa2, 0x21, 0x68, 0xc2, 0x34,
        0xc4, 0xc6, 0x62, 0x8b, 0x80, 0xdc, 0x1c, 0xd1, 0x29, 0x02, 0x4e, 0x08, 0x8a, 0x67, 0xcc, 0x74,
        0x02, 0x0b, 0xbe, 0xa6, 0x3b, 0x13, 0x9b, 0x22, 0x51, 0x4a, 0x08, 0x79, 0x8e, 0x34, 0x04, 0xdd,
        0xef, 0x95, 0x19, 0xb3, 0xcd, 0x3a, 0x43, 0x1b, 0x30, 0x2b, 0x0a, 0x6d, 0xf2, 0x5f, 0x14, 0x37,
        0x4f, 0xe1, 0x35, 0x6d, 0x6d, 0x51, 0xc2, 0x45, 0xe4, 0x85, 0xb5, 0x76, 0x62, 0x5e, 0x7e, 0xc6,
        0xf4, 0x4c, 0x42, 0xe9, 0xa6, 0x37, 0xed, 0x6b, 0x0b, 0xff, 0x5c, 0xb6, 0xf4, 0x06, 0xb7, 0xed,
        0xee, 0x38, 0x6b, 0xfb, 0x5a, 0x89, 0x9f, 0xa5, 0xae, 0x9f, 0x24, 0x11, 0x7c, 0x4b, 0x1f, 0xe6,
        0x49, 0x28, 0x66, 0x51, 0xec, 0xe6, 0x53, 0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    ]
}
