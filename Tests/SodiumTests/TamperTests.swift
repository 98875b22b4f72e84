import Testing

@testable import Sodium

/// A sealed value opens whole, under its own key and data, or not at all.
@Suite struct TamperTests {
    private let nonce = [UInt8](repeating: 3, count: 12)

    private func seal(_ content: [UInt8], _ shared: SharedSecret) -> [UInt8] {
        let key = self.key(shared)
        var sealed = [UInt8](repeating: 0, count: content.count + ChaCha20Poly1305.tagBytes)
        var target = sealed.mutableSpan
        ChaCha20Poly1305.seal(content.span, key: key, nonce: nonce, associatedData: [1, 2], into: &target)
        return sealed
    }

    // Move-only values cannot stand in an expectation, so the key is shared and made where it is used.
    private func key(_ shared: SharedSecret) -> Key { Key(shared.secret.duplicate())! }

    private func opens(
        _ sealed: [UInt8], _ shared: SharedSecret, nonce: [UInt8]? = nil, data: [UInt8] = [1, 2]
    ) -> Bool {
        let key = key(shared)
        return ChaCha20Poly1305.open(
            sealed.span, key: key, nonce: nonce ?? self.nonce, associatedData: data) != nil
    }

    private func opensStored(_ sealed: [UInt8], _ shared: SharedSecret, data: [UInt8] = [1]) -> Bool {
        let key = key(shared)
        return XChaCha20Poly1305.open(sealed.span, key: key, associatedData: data) != nil
    }

    private static func random() -> SharedSecret { SharedSecret(Key.random().bytes.duplicate()) }

    @Test(arguments: [0, 1, 40])
    func everyByteOfAWireValueCounts(count: Int) {
        let key = Self.random()
        let sealed = seal([UInt8](repeating: 7, count: count), key)
        #expect(opens(sealed, key))
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 0x80
            #expect(!opens(changed, key), "byte \(index)")
        }
        for length in sealed.indices { #expect(!opens(Array(sealed.prefix(length)), key), "\(length) bytes") }
        #expect(!opens(sealed + [0], key))
        #expect(!opens(sealed, Self.random()))
        #expect(!opens(sealed, key, data: []) && !opens(sealed, key, data: [1, 2, 3]))
        for index in nonce.indices {
            var other = nonce
            other[index] ^= 1
            #expect(!opens(sealed, key, nonce: other))
        }
        #expect(!opens(sealed, key, nonce: Array(nonce.dropLast())))
        #expect(!opens(sealed, key, nonce: nonce + [0]))
    }

    @Test(arguments: [0, 1, 40])
    func everyByteOfAStoredValueCounts(count: Int) {
        let key = Self.random()
        let content = [UInt8](repeating: 7, count: count)
        let sealed = XChaCha20Poly1305.seal(content.span, key: self.key(key), associatedData: [1])
        #expect(sealed.count == count + XChaCha20Poly1305.overhead)
        #expect(opensStored(sealed, key))
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 0x80
            #expect(!opensStored(changed, key), "byte \(index)")
        }
        for length in sealed.indices {
            #expect(!opensStored(Array(sealed.prefix(length)), key), "\(length) bytes")
        }
        #expect(!opensStored(sealed + [0], key) && !opensStored(sealed, Self.random()))
        #expect(!opensStored(sealed, key, data: []) && !opensStored(sealed, key, data: [2]))
    }

    @Test func aValueIsNeverSealedTheSameTwice() {
        let key = Key.random()
        let content: [UInt8] = [1]
        var sealed: Set<[UInt8]> = []
        for _ in 0..<100 { sealed.insert(XChaCha20Poly1305.seal(content.span, key: key, associatedData: [])) }
        #expect(sealed.count == 100)
    }

    @Test func subkeysDifferByNumberAndByContext() {
        let key = Key.random()
        let keys = [
            bytes(key.subkey(1, context: "chatmeta").bytes), bytes(key.subkey(2, context: "chatmeta").bytes),
            bytes(key.subkey(1, context: "chatsecr").bytes), bytes(key.bytes),
        ]
        #expect(Set(keys).count == 4)
        let again = bytes(key.subkey(1, context: "chatmeta").bytes)
        #expect(again == keys[0])
    }

    @Test(arguments: [0, 31, 33])
    func aKeyHas32Bytes(count: Int) {
        let isRefused = Key(Secret(count: count) { _ in }) == nil
        #expect(isRefused)
    }
}
