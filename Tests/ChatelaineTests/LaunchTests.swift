import Chatelaine
import ChatelaineFoundation
import Foundation
import TestKit
import Testing

/// What a program does at its start, and the two small forms of a vault.
@Suite struct LaunchTests {
    private func route(_ vault: CredentialVault) async -> String {
        switch await vault.launch(account: "alice") {
        case .ready(let secret): "ready with \(secret.count)"
        case .signIn: "sign in"
        case .waitForUnlock(let error): "wait: \(error.name)"
        case .damaged: "damaged"
        case .unavailable(let error): "unavailable: \(error.name)"
        }
    }

    /// B054, B053, B153, B167: only what is certainly absent leads to the sign-in page.
    @Test func eachStateHasItsRoute() async throws {
        let stage = try await BrokerStage()
        let vault = stage.vault()
        #expect(await route(vault) == "sign in")
        try await vault.store(Secret("token"), account: "alice")
        #expect(await route(vault) == "ready with 5")
        #expect(await route(stage.vault(group: "org.example.others")) == "unavailable: notEntitled")
        try await stage.setPasscode()
        try await stage.lock()
        #expect(await route(vault) == "wait: locked")
        await stage.killBroker()
        #expect(await route(vault) == "unavailable: brokerMissing")
        try await stage.startBroker()
        #expect(await route(vault) == "wait: beforeFirstUnlock")
        #expect(await route(stage.vault("https://never.example")) == "wait: beforeFirstUnlock")
        try await stage.unlock()
        #expect(await route(vault) == "ready with 5")
        try await stage.damageSecrets()
        #expect(await route(vault) == "wait: beforeFirstUnlock")
        try await stage.unlock()
        #expect(await route(vault) == "damaged")
        try await vault.store(Secret("new"), account: "alice")
        #expect(await route(vault) == "ready with 3")
    }

    @Test func aTokenStoreHasATokenOrNone() async throws {
        let stage = try await BrokerStage()
        let store = TokenStore(stage.vault())
        #expect(await store.get() == nil)
        #expect(await store.save(Secret("token")))
        #expect(await store.get()?.text() == "token")
        try await stage.setPasscode()
        try await stage.lock()
        #expect(await store.get() == nil)
        #expect(await !store.save(Secret("other")))
        try await stage.unlock()
        #expect(await store.get()?.text() == "token")
        #expect(await store.delete())
        #expect(await store.delete())
        await stage.endBroker()
        #expect(await store.get() == nil)
        #expect(await !store.delete())
        #expect(await TokenStore(stage.vault(group: "org.example.others")).get() == nil)
    }
}

/// Keys that are stored as keys.
@Suite struct KeyMaterialTests {
    private struct WrongLength: Error {}

    private struct BoxKey: KeyMaterial, Sendable {
        let shared: SharedSecret

        init(rawRepresentation: borrowing Secret) throws {
            guard rawRepresentation.count == 32 else { throw WrongLength() }
            shared = SharedSecret(rawRepresentation.duplicate())
        }

        var rawRepresentation: Secret { shared.secret.duplicate() }
    }

    private struct DataKey: DataKeyMaterial {
        let rawRepresentation: Data

        init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {
            let data = unsafe rawRepresentation.withUnsafeBytes { unsafe Data($0) }
            guard data.count == 32 else { throw WrongLength() }
            self.rawRepresentation = data
        }
    }

    @Test func aKeyComesBackAsOne() async throws {
        let stage = try await BrokerStage()
        let vault = stage.vault()
        let bytes = (0..<32).map { UInt8($0) &+ 0x7F }
        try await vault.store(BoxKey(rawRepresentation: Secret(bytes)), account: "box")
        #expect(try await vault.read(BoxKey.self, account: "box").shared.secret.bytes() == bytes)
        #expect(try await vault.read(DataKey.self, account: "box").rawRepresentation == Data(bytes))
        try await vault.store(DataKey(rawRepresentation: Data(bytes.reversed())), account: "box")
        #expect(try await vault.read(account: "box").data() == Data(bytes.reversed()))
    }

    @Test func whatIsNoKeyIsDamaged() async throws {
        let stage = try await BrokerStage()
        let vault = stage.vault()
        try await vault.store(Secret("short"), account: "box")
        #expect(await failure { try await vault.read(BoxKey.self, account: "box") }?.name == "damaged")
        #expect(await failure { try await vault.read(DataKey.self, account: "box") }?.name == "damaged")
        #expect(await failure { try await vault.read(DataKey.self, account: "none") }?.name == "notFound")
    }

    @Test func aSecretIsTextOrNot() {
        #expect(Secret("łuż").text() == "łuż")
        #expect(Secret([0x7F, 0x80]).text() == nil)
        #expect(Secret(Data([1, 2])).bytes() == [1, 2])
    }
}
