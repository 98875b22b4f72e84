import Testing

@testable import Sodium

/// libsodium makes a new pair for each box, so there are no vectors: what is held is who can open which.
@Suite struct SealedBoxTests {
    private func seal(_ text: String, to publicKey: [UInt8]) -> [UInt8]? {
        SealedBox.seal(Secret(copying: Array(text.utf8).span), to: publicKey)
    }

    private func opens(_ box: [UInt8], with pair: borrowing X25519KeyPair) -> Bool {
        switch SealedBox.open(box, with: pair) {
        case .some: true
        case nil: false
        }
    }

    @Test(arguments: ["", "x", String(repeating: "y", count: 5000)])
    func theHolderOfThePrivateKeyOpensTheBox(_ text: String) throws {
        let pair = X25519KeyPair()
        let box = try #require(seal(text, to: pair.publicKey))
        #expect(box.count == text.utf8.count + SealedBox.overhead)
        let isEqual = SealedBox.open(box, with: pair)?.isEqual(to: Secret(copying: Array(text.utf8).span))
        #expect(isEqual == true)
        #expect(seal(text, to: pair.publicKey) != box)
    }

    @Test func nobodyElseDoesAndNoOtherBoxIsOne() throws {
        let pair = X25519KeyPair()
        let box = try #require(seal("text", to: pair.publicKey))
        let stranger = opens(box, with: X25519KeyPair())
        #expect(!stranger)
        for index in box.indices {
            var changed = box
            changed[index] ^= 1
            let isOpened = opens(changed, with: pair)
            #expect(!isOpened)
        }
        for count in 0..<box.count {
            let isOpened = opens(Array(box.prefix(count)), with: pair)
            #expect(!isOpened)
        }
    }

    @Test func whatIsNoPublicKeyIsRefused() {
        #expect(seal("x", to: []) == nil)
        #expect(seal("x", to: [UInt8](repeating: 1, count: 31)) == nil)
        #expect(seal("x", to: [UInt8](repeating: 0, count: 32)) == nil)
    }
}
