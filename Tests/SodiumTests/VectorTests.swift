import Testing

@testable import Sodium

/// The primitives against the vectors of their own documents.
@Suite struct VectorTests {
    // RFC 7748, section 6.1.
    private static let alice = "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"
    private static let alicePublic = "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"
    private static let bob = "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb"
    private static let bobPublic = "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"
    private static let shared = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"

    @Test func x25519GivesThePublicKeysAndTheSharedSecret() throws {
        let alice = X25519KeyPair(privateKey: key(Self.alice))
        let bob = X25519KeyPair(privateKey: key(Self.bob))
        #expect(alice.publicKey == hex(Self.alicePublic) && bob.publicKey == hex(Self.bobPublic))
        #expect(sharedSecret(Self.alice, Self.bobPublic) == hex(Self.shared))
        #expect(sharedSecret(Self.bob, Self.alicePublic) == hex(Self.shared))
    }

    private func sharedSecret(_ privateKey: String, _ peer: String) -> [UInt8]? {
        guard let shared = X25519KeyPair(privateKey: key(privateKey)).sharedSecret(with: hex(peer)) else {
            return nil
        }
        return bytes(shared)
    }

    /// RFC 7748, section 5.2.
    @Test(arguments: [
        (
            "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
            "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
            "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"
        ),
        (
            "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
            "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
            "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"
        ),
    ])
    func x25519MultipliesPoints(scalar: String, point: String, result: String) {
        #expect(sharedSecret(scalar, point) == hex(result))
    }

    /// Points of small order, and their other forms: the shared secret would be zero (section 6.1).
    @Test(arguments: [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ])
    func x25519RefusesPointsOfSmallOrder(point: String) {
        #expect(sharedSecret(Self.alice, point) == nil)
    }

    @Test(arguments: [0, 31, 33, 64])
    func x25519RefusesKeysOfAnotherLength(count: Int) {
        let pair = X25519KeyPair()
        let isRefused = pair.sharedSecret(with: [UInt8](repeating: 9, count: count)) == nil
        #expect(isRefused)
    }

    /// RFC 5869, appendix A.1 to A.3; of the output key the first 32 bytes, which is what a key has.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0b, count: 22), [UInt8](0x00...0x0c), [UInt8](0xf0...0xf9),
            "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5",
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"
        ),
        (
            [UInt8](0x00...0x4f), [UInt8](0x60...0xaf), [UInt8](0xb0...0xff),
            "06a6b88c5853361a06104c9ceb35b45cef760014904671014a193f40c15fc244",
            "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c"
        ),
        (
            [UInt8](repeating: 0x0b, count: 22), [], [],
            "19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04",
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
        ),
    ])
    func hkdf(input: [UInt8], salt: [UInt8], info: [UInt8], extracted: String, expanded: String) {
        let pseudorandomKey = HKDF.extract(input.span, salt: salt)
        let key = HKDF.deriveKey(from: secret(input), salt: salt, info: info)
        #expect(bytes(pseudorandomKey.bytes) == hex(extracted) && bytes(key.bytes) == hex(expanded))
    }

    // "Ladies and Gentlemen of the class of '99: …", of both AEAD documents.
    static let plaintext = Array(
        ("Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
            + "sunscreen would be it.").utf8)
    static let aeadKey = "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f"
    static let associatedData = hex("50515253c0c1c2c3c4c5c6c7")

    /// RFC 8439, section 2.8.2.
    @Test func chaCha20Poly1305() {
        let nonce = hex("070000004041424344454647")
        var sealed = [UInt8](repeating: 0, count: Self.plaintext.count + ChaCha20Poly1305.tagBytes)
        var target = sealed.mutableSpan
        ChaCha20Poly1305.seal(
            Self.plaintext.span, key: key(Self.aeadKey), nonce: nonce, associatedData: Self.associatedData,
            into: &target)
        #expect(
            sealed
                == hex(
                    """
                    d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6
                    3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36
                    92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc
                    3ff4def08e4b7a9de576d26586cec64b61161ae10b594f09e26a7e902ecbd0600691
                    """))
        guard
            let opened = ChaCha20Poly1305.open(
                sealed.span, key: key(Self.aeadKey), nonce: nonce, associatedData: Self.associatedData)
        else {
            Issue.record("did not open")
            return
        }
        #expect(bytes(opened) == Self.plaintext)
    }

    /// draft-irtf-cfrg-xchacha-03, appendix A.3.1.
    @Test func xChaCha20Poly1305() {
        let nonce = hex("404142434445464748494a4b4c4d4e4f5051525354555657")
        let sealed = XChaCha20Poly1305.seal(
            Self.plaintext.span, key: key(Self.aeadKey), nonce: nonce, associatedData: Self.associatedData)
        #expect(
            sealed
                == nonce
                + hex(
                    """
                    bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb
                    731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c216cb96b72e1213b452
                    2f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9
                    21f9664c97637da9768812f615c68b13b52ec0875924c1c7987947deafd8780acf49
                    """))
        guard
            let opened = XChaCha20Poly1305.open(
                sealed.span, key: key(Self.aeadKey), associatedData: Self.associatedData)
        else {
            Issue.record("did not open")
            return
        }
        #expect(bytes(opened) == Self.plaintext)
    }

    /// The published vectors have 64-byte keys; these are of Python's hashlib, which has the reference code
    /// of RFC 7693, under the key 00 01 … 1f.
    @Test(arguments: [
        ([], 32, "4e51e7a913fc80137da52880fecca175bf81e117d5c68126dc2774033517ea0d"),
        ([], 16, "3daf97bce7888fd59773c66bf647459c"),
        (
            Array("abc".utf8), 64,
            "9af0244b7da7fe29d90a89727e06a0c93977ce1ad7edcb76ac0b24142194ea00"
                + "c77be4a1d3fededd31d5a593625a508e742fc90d708f8b48a5c246e4e8e42d94"
        ),
        ([UInt8](0...254), 32, "f60f5c4a575c43db6c93608515866ea998e04b35792f5a92b27aa5880cd6721e"),
    ])
    func blake2b(message: [UInt8], count: Int, digest: String) {
        let key = Key(secret([UInt8](0..<32)))!
        let found = Blake2b.hash(message, key: key, count: count)
        #expect(found == hex(digest))
        let derived = bytes(Blake2b.key(message.span, key: key).bytes)
        if count == 32 { #expect(derived == hex(digest)) }
    }

    /// libsodium documents a subkey as BLAKE2b with the number as salt and the context as personalization;
    /// the values are of Python's hashlib.
    @Test(
        arguments: [
            (1, "chatmeta", "e71b2289e2c3d7d70415ea277b45e1049219e9cbd3f35b1685a8b49a1e9662b7"),
            (2, "chatsecr", "d12ed496c5338b3e4ad086669269eae27d268b7c1843af57a8fd98f1d6738e65"),
        ] as [(UInt64, String, String)])
    func subkeys(number: UInt64, context: String, expected: String) {
        let key = Key(secret([UInt8](0..<32)))!
        let subkey =
            context == "chatmeta"
            ? key.subkey(number, context: "chatmeta") : key.subkey(number, context: "chatsecr")
        #expect(bytes(subkey.bytes) == hex(expected))
    }

    /// RFC 9106's own vector has a secret and associated data, which libsodium does not take. These are of
    /// the reference implementation (libargon2 20171227), salt 01 02 … 10, one lane.
    @Test(
        arguments: [
            (
                3, 64, Array("password".utf8),
                "55e4d4b929d39c18795f4fc476da5481d16fac1a832c3fe2c4226a0eb1141fdf"
            ),
            (2, 64, [], "2cd91a0d3bc5cbced0f94720b8b9f2830ff543c5948e89224c6423b39b3f0dff"),
            (
                2, 128, [0, 0x70, 0x61, 0x73, 0x73, 0xff],
                "4cf5ce17020b62c67355546c1e9d027e29f386aa90872fbc65548ba705013959"
            ),
            (
                2, 64, [UInt8](repeating: 0x78, count: 1024),
                "dfdd84967f68929650a5129bc3f8e27029894168dbee7849fe40c7087c2a784d"
            ),
        ] as [(UInt32, UInt32, [UInt8], String)])
    func argon2id(passes: UInt32, mebibytes: UInt32, passcode: [UInt8], expected: String) throws {
        let cost = try #require(Argon2id.Cost(passes: passes, memoryKiB: mebibytes << 10))
        guard let key = Argon2id.derive(secret(passcode), salt: [UInt8](1...16), cost: cost) else {
            Issue.record("no memory")
            return
        }
        #expect(bytes(key.bytes) == hex(expected))
    }

    @Test(
        arguments: [(1, 65536), (17, 65536), (3, 65535), (3, 1_048_577), (0, 0), (.max, .max)]
            as [(UInt32, UInt32)])
    func costsOutOfBoundsAreRefused(passes: UInt32, memoryKiB: UInt32) {
        #expect(Argon2id.Cost(passes: passes, memoryKiB: memoryKiB) == nil)
    }
}
