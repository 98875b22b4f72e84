import BrokerModel
import Foundation
import SQLite
import Sodium
import Testing
import TestKit

@testable import BrokerVault

/// The file: whose it is, who may read it, and that what cannot be used is left alone (K23).
@Suite struct StoreFileTests {
    let bench: Bench

    init() async throws { bench = try await Bench() }

    @VaultActor private func open() async -> Refusal.Kind? {
        await refusal { () throws(Refusal) in try bench.vault.open() }
    }

    @VaultActor @Test func allOfItIsForTheUserAloneWhateverTheUmask() async throws {
        try await bench.add(.item())
        for name in ["keychain.db", "keychain.db-wal", "keychain.db-shm"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: bench.folder.entry(name))
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
    }

    @VaultActor @Test func whatWasStoredIsThereAfterARestart() async throws {
        let stored = try await bench.add(.item("1", accessible: .whenUnlocked), "1")
        try await bench.add(.item("2"), "2")
        bench.restart()
        #expect(try bench.secrets(.query(nil)) == ["1", "2"])
        #expect(try bench.secret(.reference(stored.reference)) == "1")
    }

    @VaultActor @Test func withoutADeviceKeyNothingIsOpened() async throws {
        let vault = Vault(folder: bench.folder.path, deviceKey: nil, .none)
        #expect(await refusal { () throws(Refusal) in try vault.open() } == .notAvailable)
        #expect(!FileManager.default.fileExists(atPath: bench.path))
    }

    /// Closes the store, so that the file has everything, and gives its bytes.
    @VaultActor private func closed() throws -> [UInt8] {
        bench.restart()
        return try Bench.contents(of: bench.path)
    }

    @VaultActor @Test func anotherDeviceKeyOpensNothingAndChangesNothing() async throws {
        try await bench.add(.item(), "x")
        let before = try closed()
        bench.restart(key: 8)
        #expect(await open() == .notAvailable)
        #expect(
            await refusal { () throws(Refusal) in try await bench.add(.item("b")) } == .notAvailable)
        #expect(bench.vault.state == .beforeFirstUnlock)
        bench.restart(key: 7)
        #expect(try Bench.contents(of: bench.path) == before)
        #expect(try bench.secret(.query()) == "x")
    }

    @VaultActor
    @Test(arguments: [
        "PRAGMA user_version = 5", "PRAGMA user_version = 0", "PRAGMA user_version = -1",
        "PRAGMA application_id = 1",
    ])
    func aStoreOfAnotherKindIsLeftAsItIs(sql: String) async throws {
        try await bench.add(.item(), "x")
        _ = try closed()
        try bench.tamper(sql)
        #expect(!FileManager.default.fileExists(atPath: bench.path + "-wal"))
        let before = try Bench.contents(of: bench.path)
        #expect(await open() == .notAvailable)
        #expect(!bench.faults.isEmpty)
        bench.restart()
        #expect(try Bench.contents(of: bench.path) == before)
    }

    /// Even its log is not copied into it.
    @VaultActor @Test func aNewerStoreWithALogIsLeftAsItIs() async throws {
        try await bench.add(.item(), "x")
        let copy = try TemporaryFolder()
        try bench.tamper("PRAGMA user_version = 5")
        for name in ["keychain.db", "keychain.db-wal"] {
            try FileManager.default.copyItem(atPath: bench.folder.entry(name), toPath: copy.entry(name))
        }
        let before = try Bench.contents(of: copy.entry("keychain.db"))
        let log = try Bench.contents(of: copy.entry("keychain.db-wal"))
        #expect(!log.isEmpty)
        do {
            let other = try Bench(in: copy)
            #expect(await refusal { () throws(Refusal) in try other.vault.open() } == .notAvailable)
        }
        #expect(try Bench.contents(of: copy.entry("keychain.db")) == before)
        #expect(try Bench.contents(of: copy.entry("keychain.db-wal")) == log)
    }

    /// A database of another program is not even turned to another journal mode.
    @VaultActor @Test func aForeignDatabaseIsLeftAsItIs() async throws {
        do {
            let foreign = try Database(path: bench.path, mode: .create)
            try foreign.execute("CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)")
        }
        let before = try Bench.contents(of: bench.path)
        #expect(await open() == .notAvailable)
        bench.restart()
        #expect(try Bench.contents(of: bench.path) == before)
    }

    @VaultActor @Test(arguments: ["not a database at all", "SQLite format 3\u{0}"])
    func aFileThatIsNoDatabaseIsLeftAsItIs(text: String) async throws {
        let contents = Data((text + String(repeating: ".", count: 5000)).utf8)
        try contents.write(to: URL(fileURLWithPath: bench.path))
        #expect(await open() == .notAvailable)
        bench.restart()
        #expect(try Bench.contents(of: bench.path) == Array(contents))
    }

    /// A store that was cut to nothing is a damaged one: a new one in its place would hide that.
    @VaultActor @Test func anEmptyFileIsLeftAsItIs() async throws {
        try await bench.add(.item(), "x")
        let whole = try closed()
        try Data().write(to: URL(fileURLWithPath: bench.path))
        #expect(await open() == .notAvailable)
        #expect(try Bench.contents(of: bench.path).isEmpty)
        try Data(whole).write(to: URL(fileURLWithPath: bench.path))
        #expect(try bench.secret(.query()) == "x")
    }

    @VaultActor @Test func aStoreWhoseHeaderIsDamagedIsLeftAndWorksAgainWhenItIsMended() async throws {
        try await bench.add(.item(), "x")
        let whole = try closed()
        var damaged = whole
        damaged.replaceSubrange(0..<64, with: [UInt8](repeating: 0xee, count: 64))
        try Data(damaged).write(to: URL(fileURLWithPath: bench.path))
        #expect(await open() == .notAvailable)
        #expect(await refusal { () throws(Refusal) in _ = try bench.read(.query()) } == .notAvailable)
        #expect(try Bench.contents(of: bench.path) == damaged)
        try Data(whole).write(to: URL(fileURLWithPath: bench.path))
        #expect(try bench.secret(.query()) == "x")
    }

    @VaultActor @Test func aSymbolicLinkIsNotFollowed() async throws {
        let target = bench.folder.entry("target")
        try FileManager.default.createSymbolicLink(atPath: bench.path, withDestinationPath: target)
        #expect(await open() == .notAvailable)
        #expect(!FileManager.default.fileExists(atPath: target))
    }

    /// Home folders stand behind links on many systems.
    @VaultActor @Test func aFolderBehindASymbolicLinkIsFine() async throws {
        let links = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(
            atPath: links.entry("state"), withDestinationPath: bench.folder.path)
        let deviceKey = DeviceKey(.init(count: 32) { $0[0] = 1 }, machineID: [])
        let vault = Vault(folder: links.entry("state"), deviceKey: deviceKey, .none)
        try vault.open()
        #expect(FileManager.default.fileExists(atPath: bench.path))
    }

    @VaultActor @Test func aFolderThatIsMissingIsNotAvailableAndWorksWhenItComes() async throws {
        let folder = bench.folder.entry("later")
        let deviceKey = DeviceKey(.init(count: 32) { $0[0] = 1 }, machineID: [])
        let vault = Vault(folder: folder, deviceKey: deviceKey, .none)
        #expect(await refusal { () throws(Refusal) in try vault.open() } == .notAvailable)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try vault.open()
        #expect(vault.state == .unlocked)
    }

    @VaultActor @Test func theMachineIdIsPartOfTheDeviceKey() async throws {
        try bench.vault.open()
        let bytes = [UInt8](repeating: 7, count: 32)
        let elsewhere = DeviceKey(.init(copying: bytes.span), machineID: Array("elsewhere".utf8))
        let vault = Vault(folder: bench.folder.path, deviceKey: elsewhere, .none)
        #expect(await refusal { () throws(Refusal) in try vault.open() } == .notAvailable)
        #expect(DeviceKey(.init(count: 31) { _ in }, machineID: []) == nil)
    }

    /// One device key serves all users of a machine, and their files are not interchangeable for that.
    @VaultActor @Test func theStoreOfOneUserDoesNotOpenAsAnothers() async throws {
        func vault(of userID: UInt32) -> Vault {
            let bytes = Secret(copying: [UInt8](repeating: 7, count: 32).span)
            return Vault(
                folder: bench.folder.path, deviceKey: DeviceKey(bytes, machineID: [], userID: userID), .none)
        }
        try await vault(of: 1000).make()
        #expect(await refusal { () throws(Refusal) in try vault(of: 1001).open() } == .notAvailable)
        try vault(of: 1000).open()
        #expect(await refusal { () throws(Refusal) in try bench.vault.open() } == .notAvailable)
    }

    @VaultActor @Test func aStoreThatIsThereIsNotMadeAgain() async throws {
        try await bench.add(.item(), "x")
        try await bench.vault.make()
        bench.restart()
        try await bench.vault.make()
        #expect(try bench.secrets(.query()) == ["x"])
    }
}
