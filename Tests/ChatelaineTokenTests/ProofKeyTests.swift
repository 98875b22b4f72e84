import Sodium
import Testing

@testable import ChatelaineHTTP

/// What a sign-in proves itself with.
@Suite struct ProofKeyTests {
    /// RFC 7636, appendix B.
    @Test func theVectorOfTheDocument() {
        let octets: [UInt8] = [
            116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186, 22, 212, 37, 77, 105,
            214,
            191, 240, 91, 88, 5, 88, 83, 132, 141, 121,
        ]
        let verifier = Base64URL.encode(secret(octets))
        #expect(text(verifier) == "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        #expect(ProofKey(verifier: verifier).challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }

    /// RFC 4648, section 10, without padding.
    @Test(arguments: zip(["", "f", "fo", "foo", "foob"], ["", "Zg", "Zm8", "Zm9v", "Zm9vYg"]))
    func base64HasNoPadding(plain: String, encoded: String) {
        #expect(text(Base64URL.encode(secret(plain))) == encoded)
    }

    @Test func everyVerifierIsAnother() {
        let verifiers = Set((0..<64).map { _ in text(ProofKey().verifier)! })
        #expect(verifiers.count == 64 && verifiers.allSatisfy { $0.utf8.count == 43 })
    }
}
