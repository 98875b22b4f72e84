internal import CGcrypt
public import Sodium

/// AES-128 in CBC mode with PKCS#7 padding (NIST SP 800-38A; RFC 5652, section 6.3). It has no tag: whoever can change the
/// ciphertext can change the secret, which is the Secret Service's own weakness.
public enum AES128CBC {
    /// The length of a block, of the key and of the initialization vector.
    public static let blockBytes = 16

    /// The length of the ciphertext of so many bytes.
    public static func sealedCount(_ count: Int) -> Int { (count / blockBytes + 1) * blockBytes }

    /// Encrypts into `target`, which has ``sealedCount(_:)`` bytes. False where libgcrypt cannot be used.
    public static func encrypt(
        _ secret: borrowing Secret, key: borrowing Secret, vector: [UInt8],
        into target: inout MutableSpan<UInt8>
    ) -> Bool {
        guard let cipher = Cipher(key: key.span, vector: vector) else { return false }
        let padding = UInt8(target.count - secret.count)
        target.copy(secret)
        for index in secret.count..<target.count { target[index] = padding }
        return cipher.encrypt(&target)
    }

    /// Decrypts. Nil for what is no whole number of blocks, at least one, a vector of another length, and wrong padding.
    public static func decrypt(
        _ sealed: borrowing Secret, key: borrowing Secret, vector: [UInt8]
    ) -> Secret? {
        guard sealed.count > 0, sealed.count % blockBytes == 0,
            let cipher = Cipher(key: key.span, vector: vector)
        else { return nil }
        var isDone = false
        let padded = Secret(count: sealed.count) { target in
            isDone = cipher.decrypt(sealed.span, into: &target)
        }
        guard isDone, let count = unpaddedCount(padded.span) else { return nil }
        return Secret(copying: padded.span.extracting(0..<count))
    }

    private static func unpaddedCount(_ padded: Span<UInt8>) -> Int? {
        let padding = Int(padded[padded.count - 1])
        guard (1...blockBytes).contains(padding) else { return nil }
        var difference: UInt8 = 0
        for index in padded.count - padding..<padded.count { difference |= padded[index] ^ UInt8(padding) }
        return difference == 0 ? padded.count - padding : nil
    }
}
