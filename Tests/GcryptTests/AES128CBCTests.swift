import Gcrypt
import Sodium
import Testing

@Suite struct AES128CBCTests {
    // NIST SP 800-38A, F.2.1.
    private let key = bytes("2b7e151628aed2a6abf7158809cf4f3c")
    private let vector = bytes("000102030405060708090a0b0c0d0e0f")
    private let plain = bytes("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51")
    private let cipher = bytes("7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2")

    private func encrypt(_ plain: [UInt8]) -> [UInt8] {
        var isDone = false
        let sealed = Secret(count: AES128CBC.sealedCount(plain.count)) { target in
            isDone = AES128CBC.encrypt(
                Secret(copying: plain.span), key: Secret(copying: key.span), vector: vector, into: &target)
        }
        #expect(isDone)
        return copy(sealed)
    }

    private func decrypt(_ sealed: [UInt8], _ vector: [UInt8]? = nil) -> [UInt8]? {
        let opened = AES128CBC.decrypt(
            Secret(copying: sealed.span), key: Secret(copying: key.span), vector: vector ?? self.vector)
        guard let opened else { return nil }
        return copy(opened)
    }

    @Test func itGivesWhatTheStandardSays() {
        let sealed = encrypt(plain)
        #expect(Array(sealed.prefix(32)) == cipher && sealed.count == 48)
        #expect(decrypt(sealed) == plain)
    }

    @Test(arguments: [0, 1, 15, 16, 17, 4096])
    func everyLengthComesBack(count: Int) {
        let plain = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let sealed = encrypt(plain)
        #expect(sealed.count == (count / 16 + 1) * 16)
        #expect(decrypt(sealed) == plain)
    }

    @Test func whatIsNoWholeBlocksOrHasWrongPaddingIsRefused() {
        #expect(decrypt([]) == nil)
        #expect(decrypt(Array(encrypt(plain).dropLast())) == nil)
        #expect(decrypt(encrypt(plain), Array(vector.dropLast())) == nil)
        // The standard's own blocks have none.
        #expect(decrypt(cipher) == nil)
    }
}

func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

func copy(_ secret: borrowing Secret) -> [UInt8] {
    [UInt8](capacity: secret.count) { output in
        for index in secret.span.indices { output.append(secret.span[index]) }
    }
}
