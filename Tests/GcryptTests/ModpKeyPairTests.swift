import Sodium
import Testing

@testable import Gcrypt

@Suite struct ModpKeyPairTests {
    private func publicKey(_ exponent: [UInt8]) -> [UInt8] {
        ModpKeyPair(exponent: Secret(copying: exponent.span))?.publicKey ?? []
    }

    private func shared(_ exponent: [UInt8], _ peer: [UInt8]) -> [UInt8]? {
        guard let pair = ModpKeyPair(exponent: Secret(copying: exponent.span)),
            let secret = pair.sharedSecret(with: peer)
        else { return nil }
        return copy(secret)
    }

    @Test func bothSidesGetTheSameSecret() {
        guard let first = ModpKeyPair(), let second = ModpKeyPair(),
            let shared = first.sharedSecret(with: second.publicKey),
            let other = second.sharedSecret(with: first.publicKey)
        else {
            Issue.record("no key agreement")
            return
        }
        let isSame = shared.isEqual(to: other)
        #expect(isSame && copy(shared).count == 128)
        #expect(first.publicKey.count == 128)
        #expect(first.publicKey != second.publicKey)
    }

    // 2^1023 is below p, and 2^1024 - p is what is left of 2^1024: anybody can work both out by hand.
    @Test func powersAreOfTheGroup() {
        #expect(publicKey([0x03, 0xff]) == [0x80] + [UInt8](repeating: 0, count: 127))
        let beyond = publicKey([0x04, 0x00])
        #expect(beyond.prefix(8) == [0, 0, 0, 0, 0, 0, 0, 0])
        #expect(beyond.suffix(8) == [0, 0, 0, 0, 0, 0, 0, 1])
        #expect(beyond[8..<16] == [0x36, 0xf0, 0x25, 0x5d, 0xde, 0x97, 0x3d, 0xcb])
    }

    @Test func aShortSecretIsPaddedInFront() {
        let padded = [UInt8](repeating: 0, count: 127) + [5]
        #expect(shared([1], [5]) == padded)
        #expect(shared([1], [0, 0, 5]) == padded)
    }

    @Test func keysThatFixTheSecretAreRefused() {
        let prime =
            bytes("ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74")
            + bytes("020bbea63b139b22514a08798e3404ddef9519b3cd3a431b302b0a6df25f1437")
            + bytes("4fe1356d6d51c245e485b576625e7ec6f44c42e9a637ed6b0bff5cb6f406b7ed")
            + bytes("ee386bfb5a899fa5ae9f24117c4b1fe649286651ece65381ffffffffffffffff")
        let refused: [[UInt8]] = [
            [], [0], [1], prime.dropLast() + [0xfe], prime, [UInt8](repeating: 0xff, count: 128),
        ]
        for key in refused { #expect(shared([3], key) == nil, "\(key.count) bytes") }
        #expect(shared([3], prime.dropLast() + [0xfd]) != nil)
        #expect(shared([3], [UInt8](repeating: 0, count: 128) + [5]) == nil)
    }
}
