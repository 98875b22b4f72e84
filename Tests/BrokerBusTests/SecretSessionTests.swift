import BrokerModel
import SDBus
import Sodium
import TestKit
import Testing

@testable import BrokerBus

/// Sessions (INTERFACE, sessions and secrets): both ends against each other, and against what is wrong.
@Suite struct SecretSessionTests {
    @BrokerActor @Test(arguments: [[], [0], [UInt8](repeating: 7, count: 5000)])
    func whatOneEndSealsTheOtherOpens(content: [UInt8]) async throws {
        let wire = try await Wire()
        for _ in 0..<3 { #expect(try await wire.send(content) == content) }
        let sealed = try await wire.receive(content)
        #expect(sealed.session.value == Wire.path)
        #expect(sealed.parameters == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
        #expect(sealed.value.count == content.count + 16)
        if content.count > 20 { #expect(sealed.value.prefix(content.count) != content[...]) }
        #expect(try await wire.receive(content).parameters.last == 2)
    }

    /// A value that the broker sealed is not one that it takes: the directions have keys of their own.
    @BrokerActor @Test func aReplySentBackIsRefused() async throws {
        let wire = try await Wire()
        #expect(await wire.kind(try await wire.receive([1, 2, 3])) == .param)
    }

    /// The keys and the nonces are those of the contract, made here by hand.
    @BrokerActor @Test func aClientByTheBookIsUnderstood() async throws {
        let brokerPair = X25519KeyPair()
        let clientPair = X25519KeyPair()
        let (brokerKey, clientKey) = (brokerPair.publicKey, clientPair.publicKey)
        guard let shared = clientPair.sharedSecret(with: brokerKey),
            let same = brokerPair.sharedSecret(with: clientKey)
        else {
            Issue.record("no agreement")
            return
        }
        let wire = try await Wire(
            broker: SecretSession(
                path: Wire.path, end: .broker, sharedSecret: same, clientKey: clientKey, brokerKey: brokerKey)
        )
        let key = HKDF.deriveKey(
            from: shared, salt: clientKey + brokerKey, info: Array("chatelaine-session-1c".utf8))
        let nonce: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
        let content: [UInt8] = [1, 2, 3]
        var sealed = [UInt8](repeating: 0, count: content.count + 16)
        var target = sealed.mutableSpan
        ChaCha20Poly1305.seal(
            content.span, key: key, nonce: nonce, associatedData: Array(Wire.path.utf8), into: &target)
        #expect(try await wire.send(RawSecret(Wire.path, nonce, sealed)) == content)
    }

    private func nonce(_ counter: UInt64) -> [UInt8] {
        [0, 0, 0, 0] + (0..<8).map { UInt8(truncatingIfNeeded: counter >> (56 - 8 * UInt64($0))) }
    }

    @BrokerActor @Test func aNonceServesOnceAndOnlyUpwards() async throws {
        let wire = try await Wire()
        let first = try await wire.sealed([1])
        let second = try await wire.sealed([2])
        let third = try await wire.sealed([3])
        #expect(try await wire.send(second) == [2])
        for late in [first, second] { #expect(await wire.kind(late) == .param) }
        #expect(try await wire.send(third) == [3])
    }

    /// It is spent whatever comes of the call.
    @BrokerActor @Test func aNonceIsSpentByAValueThatDoesNotOpen() async throws {
        let wire = try await Wire()
        let whole = try await wire.sealed([1])
        var damaged = whole
        damaged.value[0] ^= 1
        #expect(await wire.kind(damaged) == .param)
        #expect(await wire.kind(whole) == .param)
    }

    @BrokerActor @Test func everyByteOfAValueCounts() async throws {
        let wire = try await Wire()
        let count = try await wire.sealed([1, 2, 3]).value.count
        for index in 0..<count {
            var changed = try await wire.sealed([1, 2, 3])
            changed.value[index] ^= 0x10
            #expect(await wire.kind(changed) == .param, "byte \(index)")
        }
        var short = try await wire.sealed([])
        short.value.removeLast()
        #expect(await wire.kind(short) == .param)
    }

    @BrokerActor @Test func aNonceHasItsLengthAndItsZeros() async throws {
        let wire = try await Wire()
        let sealed = try await wire.sealed([1])
        var wrong: [[UInt8]] = [[], nonce(0), nonce(5).dropLast(), nonce(5) + [0], nonce(1 << 63)]
        for index in 0..<4 {
            var other = nonce(5)
            other[index] = 1
            wrong.append(other)
        }
        // The last is of the right form and the greatest that there is, so it comes at the end.
        for parameters in wrong where parameters != nonce(1 << 63) {
            #expect(
                await wire.kind(RawSecret(Wire.path, parameters, sealed.value)) == .param, "\(parameters)")
        }
        #expect(try await wire.send(sealed) == [1])
    }

    @BrokerActor @Test func aValueOfAnotherSessionDoesNotOpen() async throws {
        let wire = try await Wire()
        let other = try await Wire()
        #expect(await wire.kind(try await other.sealed([1])) == .param)
    }

    @BrokerActor @Test func aPlainSessionTakesTheBytesAndNoParameters() async throws {
        let wire = try await Wire(broker: SecretSession(plainAt: "/"))
        #expect(wire.broker.isPlain)
        #expect(try await wire.send(RawSecret("/", [], [1, 2, 0])) == [1, 2, 0])
        #expect(await wire.kind(RawSecret("/", [0], [1])) == .param)
        #expect(try await wire.receive([9, 8]) == RawSecret("/", [], [9, 8]))
    }
}

/// Who has which session.
@Suite struct SessionTableTests {
    init() { TestLoop.start() }

    @BrokerActor private func refusal(_ body: () throws(Refusal) -> Void) -> Refusal.Kind? {
        do throws(Refusal) {
            try body()
            return nil
        } catch {
            return error.kind
        }
    }

    @BrokerActor private func open(
        _ table: SessionTable, _ owner: String = ":1.1"
    ) throws(Refusal) -> String {
        try table.open(Contract.Algorithm.x25519.rawValue, .bytes(X25519KeyPair().publicKey), owner: owner)
            .path
    }

    @BrokerActor @Test func aSessionIsItsOwnersAlone() throws {
        let table = SessionTable(allowsPlain: false)
        let path = try open(table)
        #expect(path.hasPrefix("/org/chatelaine/Broker1/session/") && table.contains(path))
        #expect(refusal { () throws(Refusal) in _ = try table.session(path, owner: ":1.1") } == nil)
        #expect(refusal { () throws(Refusal) in _ = try table.session(path, owner: ":1.2") } == .noSession)
        #expect(refusal { () throws(Refusal) in try table.close(path, owner: ":1.2") } == .noSession)
        try table.close(path, owner: ":1.1")
        #expect(refusal { () throws(Refusal) in _ = try table.session(path, owner: ":1.1") } == .noSession)
        #expect(refusal { () throws(Refusal) in try table.close(path, owner: ":1.1") } == .noSession)
    }

    @BrokerActor @Test func sessionsEndWithTheirConnection() throws {
        let table = SessionTable(allowsPlain: false)
        let (first, second) = (try open(table), try open(table, ":1.2"))
        table.forget(":1.1")
        #expect(!table.contains(first) && table.contains(second) && table.paths == [second])
        #expect(refusal { () throws(Refusal) in _ = try table.session(first, owner: ":1.1") } == .noSession)
    }

    @BrokerActor @Test func aConnectionHasSixteenAndThePathsAreNeverUsedAgain() throws {
        let table = SessionTable(allowsPlain: true)
        var paths: Set<String> = []
        for _ in 0..<16 { paths.insert(try open(table)) }
        #expect(paths.count == 16)
        #expect(refusal { () throws(Refusal) in _ = try open(table) } == .quotaExceeded)
        #expect(refusal { () throws(Refusal) in _ = try open(table, ":1.2") } == nil)
        try table.close(try #require(paths.first), owner: ":1.1")
        #expect(!paths.contains(try open(table)))
        #expect(refusal { () throws(Refusal) in _ = try open(table) } == .quotaExceeded)
    }

    /// The ready plain session is nobody's to close, and closing it makes no room for more.
    @BrokerActor @Test func theReadyPlainSessionStays() throws {
        let table = SessionTable(allowsPlain: true)
        for _ in 0..<16 { _ = try open(table) }
        #expect(refusal { () throws(Refusal) in try table.close("/", owner: ":1.1") } == .noSession)
        #expect(refusal { () throws(Refusal) in _ = try open(table) } == .quotaExceeded)
        #expect(refusal { () throws(Refusal) in _ = try table.session("/", owner: ":1.1") } == nil)
    }

    @BrokerActor @Test func plainIsRefusedWhereOthersListen() throws {
        let table = SessionTable(allowsPlain: false)
        #expect(
            refusal { () throws(Refusal) in _ = try table.open("plain", .text(""), owner: ":1.1") }
                == .encryptionRequired)
        #expect(
            refusal { () throws(Refusal) in _ = try table.session("/", owner: ":1.1") } == .encryptionRequired
        )
        let open = SessionTable(allowsPlain: true)
        let path = try open.open("plain", .text(""), owner: ":1.1").path
        #expect(try open.session(path, owner: ":1.1").isPlain)
        #expect(try open.session("/", owner: ":1.2").isPlain)
    }

    @BrokerActor @Test func whatIsWrongWithAnOpeningIsSaid() throws {
        let table = SessionTable(allowsPlain: true)
        let x25519 = Contract.Algorithm.x25519.rawValue
        let wrong: [(String, SessionInput)] = [
            ("", .text("")), ("dh-ietf1024-sha256-aes128-cbc-pkcs7", .bytes([1])), ("plain", .text("x")),
            ("plain", .bytes([])), ("plain", .other), (x25519, .text("")), (x25519, .other),
            (x25519, .bytes([])), (x25519, .bytes([UInt8](repeating: 0, count: 32))),
            (x25519, .bytes([UInt8](repeating: 9, count: 31))),
            (x25519, .bytes([UInt8](repeating: 9, count: 33))),
            (x25519, .bytes([1] + [UInt8](repeating: 0, count: 31))),
        ]
        for (algorithm, input) in wrong {
            #expect(
                refusal { () throws(Refusal) in _ = try table.open(algorithm, input, owner: ":1.1") }
                    == .param,
                "\(algorithm)")
        }
        #expect(table.paths.isEmpty)
    }

    @BrokerActor @Test func everyOpeningMakesAnotherKey() throws {
        let table = SessionTable(allowsPlain: false)
        let clientKey = X25519KeyPair().publicKey
        var keys: Set<[UInt8]> = []
        for _ in 0..<4 {
            guard
                case .bytes(let key) = try table.open(
                    Contract.Algorithm.x25519.rawValue, .bytes(clientKey), owner: ":1.1"
                ).output
            else {
                Issue.record("no key")
                return
            }
            keys.insert(key)
        }
        #expect(keys.count == 4)
    }
}
