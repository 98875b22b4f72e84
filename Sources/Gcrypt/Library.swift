internal import CGcrypt

/// libgcrypt, made ready once in a process.
enum Library {
    /// Enough for the numbers of a few exchanges at a time; each is wiped and given back when it is done.
    private static let secureBytes: UInt32 = 32 << 10

    /// Whether it can be used: a library of the header's version or later, with memory of its own for secrets.
    static let isReady: Bool = {
        guard unsafe gcry_check_version(GCRYPT_VERSION) != nil else { return false }
        return chatelaine_gcrypt_is_started() != 0 || chatelaine_gcrypt_start(secureBytes) == 0
    }()
}
