@_spi(Testing) import BrokerGate
import BrokerModel
import Sodium
import Testing

@testable import BrokerVault

/// Secrets under an application password: encryption, and no question.
@Suite struct ApplicationPasswordTests {
    private static let cost = Argon2id.Cost(passes: 2, memoryKiB: 64 << 10)!

    private func layered(_ secret: [UInt8], _ password: String) -> SharedSecret {
        let parameters = ApplicationPasswordLayer.Parameters(
            cost: Self.cost, salt: Random.bytes(Argon2id.saltBytes))
        return SharedSecret(
            ApplicationPasswordLayer.wrap(
                SharedSecret(secret).secret, parameters, key: key(password, parameters)))
    }

    private func key(_ password: String, _ parameters: ApplicationPasswordLayer.Parameters) -> Key {
        Argon2id.derive(SharedSecret(password).secret, salt: parameters.salt, cost: parameters.cost)!
    }

    /// What the layer opens to; nil where it does not.
    private func opened(_ layered: SharedSecret, _ password: String) -> [UInt8]? {
        guard let parameters = ApplicationPasswordLayer.Parameters(of: layered.secret),
            let plain = ApplicationPasswordLayer.open(layered.secret, key: key(password, parameters))
        else { return nil }
        return copy(plain)
    }

    @Test(arguments: [[], [1], [UInt8](repeating: 9, count: 5000)])
    func aLayerOpensWithItsPasswordAlone(secret: [UInt8]) {
        let layered = layered(secret, "open sesame")
        #expect(opened(layered, "open sesame") == secret)
        #expect(opened(layered, "open sesame ") == nil && opened(layered, "") == nil)
    }

    @Test func everyByteOfALayerCounts() {
        let whole = layered([1, 2], "p")
        let key = key("p", ApplicationPasswordLayer.Parameters(of: whole.secret)!)
        for index in 0..<whole.secret.count {
            var bytes = whole.bytes
            bytes[index] ^= 1
            let plain = ApplicationPasswordLayer.open(SharedSecret(bytes).secret, key: key)
            let isRefused = plain == nil
            #expect(isRefused, "byte \(index)")
        }
    }

    @Test(arguments: 0..<65) func aShortLayerIsNone(count: Int) {
        let whole = layered([], "p")
        #expect(whole.secret.count == 65)
        #expect(opened(SharedSecret(Array(whole.bytes.prefix(count))), "p") == nil)
    }

    @VaultActor private func bench() async throws -> (Bench, WireDictionary) {
        let control = WireDictionary.Value.accessControl(
            protection: "after-first-unlock", flags: ["application-password"])
        return (try Bench(), try .item(accessible: nil).adding("AccessControl", control))
    }

    @VaultActor private func add(
        _ item: WireDictionary, _ password: String?, to bench: Bench
    ) async throws(Refusal) {
        let who = Who.one
        let secret = try await bench.vault.incoming(
            SharedSecret("secret"), password.map { SharedSecret($0) })
        _ = try await bench.vault.add(
            { () throws(Refusal) in who.grant() }, NewItem(item, for: .add, now: bench.clock), secret)
    }

    @VaultActor private func read(_ password: String?, _ bench: Bench) async throws(Refusal) -> String {
        let items = try await bench.vault.opening(password.map { SharedSecret($0) }) { () throws(Refusal) in
            [try bench.read(.query())]
        }
        return items[0].secret.text
    }

    @VaultActor @Test func theSecretComesBackForThePasswordAndForNothingElse() async throws {
        let (bench, item) = try await bench()
        #expect(await refusal { () throws(Refusal) in try await add(item, nil, to: bench) } == .authFailed)
        try await add(item, "right", to: bench)
        bench.restart()
        #expect(try await read("right", bench) == "secret")
        for wrong in ["wrong", "", nil] as [String?] {
            #expect(
                await refusal { () throws(Refusal) in _ = try await read(wrong, bench) } == .authFailed)
        }
        #expect(try bench.accounts(.query()) == ["a"])
    }

    @VaultActor @Test func withoutThePasswordTheBrokerHasNothingButTheLayer() async throws {
        let (bench, item) = try await bench()
        try await add(item, "right", to: bench)
        let found = try bench.read(.query())
        #expect(found.needsApplicationPassword && found.secret.secret.count == 65 + 6)
    }
}
