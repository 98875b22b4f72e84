import Foundation
@_spi(Testing) @_spi(Wiring) import BrokerGate
import BrokerModel
import SQLite
import Sodium
import TestKit

@testable import BrokerVault

/// Where a daemon's state would live.
@globalActor actor VaultActor {
    static let shared = VaultActor()
}

/// A vault over a file of its own, with a clock that the test sets.
@VaultActor final class Bench {
    let folder: TemporaryFolder
    var clock: UInt64 = 1_800_000_000_000_000
    private(set) var notices: [Notice] = []
    private(set) var faults: [Fault] = []
    private(set) var pauses: [UInt64] = []
    private(set) var vault: Vault
    /// What happens while a long call makes room for others.
    var onBreath: () -> Void = {}
    /// What a pause after a wrong passcode takes.
    var onPause: () async -> Void = {}
    private let worker: any BlockingWorker
    private let derivation: any BlockingWorker

    /// `key` fills the device key.
    init(
        _ worker: any BlockingWorker = InlineWorker(), derivation: any BlockingWorker = InlineWorker(),
        in folder: TemporaryFolder? = nil, key: UInt8 = 7
    ) throws {
        self.folder = try folder ?? TemporaryFolder()
        self.worker = worker
        self.derivation = derivation
        vault = Vault(folder: self.folder.path, deviceKey: nil, .none)
        restart(key: key)
    }

    /// Another broker over the same file: nothing is left but what was stored.
    func restart(key: UInt8 = 7) {
        let deviceKey = DeviceKey(
            Secret(copying: [UInt8](repeating: key, count: 32).span), machineID: Array("machine".utf8))
        let surroundings = Vault.Surroundings(
            storeThread: worker, derivationThread: derivation, passcodeThread: derivation,
            now: { [weak self] in self?.clock ?? 0 },
            tell: { [weak self] in self?.notices += $0 }, report: { [weak self] in self?.faults.append($0) },
            pause: { [weak self] in
                self?.pauses.append($0)
                await self?.onPause()
            }, breathe: { [weak self] in self?.onBreath() })
        vault = Vault(folder: folder.path, deviceKey: deviceKey, surroundings)
    }

    var path: String { folder.entry("keychain.db") }

    /// A second connection to the file, for a test that tampers with it.
    func tamper(_ sql: String) throws { _ = try rowsTampered(sql) }

    /// The same; how many rows the last statement has changed.
    func rowsTampered(_ sql: String) throws -> Int {
        let database = try Database(path: path, mode: .readWrite)
        database.setBusyTimeout(milliseconds: 5000)
        try database.execute(sql)
        return database.changes
    }

    func number(_ sql: String) throws -> Int64? {
        try Database(path: path, mode: .readOnly).number(sql)
    }

    func text(_ sql: String) throws -> String? {
        let query = try Database(path: path, mode: .readOnly).statement(sql)
        return try query.step() ? query.text(0) : nil
    }

    func forgetNotices() { notices = [] }
}

extension Vault.Surroundings {
    /// For a vault that is not used.
    static var none: Vault.Surroundings {
        Vault.Surroundings(
            storeThread: InlineWorker(), derivationThread: InlineWorker(), passcodeThread: InlineWorker(),
            now: { 0 }, tell: { _ in },
            report: { _ in }, pause: { _ in }, breathe: {})
    }
}

/// Who calls, in a test.
struct Who: Sendable {
    var groups: [AccessGroup] = ["g1"]
    var role = Entitlements.Role.full
    var operations = Set(Operation.allCases)
    var rules: [AccessGroup: GroupRules] = [:]
    var foregroundSecrets = ForegroundSecrets.none

    func grant() -> Grant {
        .forTesting(
            groups: groups, role: role, operations: operations, rules: rules,
            foregroundSecrets: foregroundSecrets)
    }

    static let one = Who()
    static let two = Who(groups: ["g2"])
    static let both = Who(groups: ["g1", "g2"])
    static let background = Who(role: .background)
}

extension WireDictionary {
    /// A generic password of service `s`.
    static func item(
        _ account: String = "a", service: String = "s", accessible: Accessibility? = .afterFirstUnlock
    ) throws(Refusal) -> WireDictionary {
        try WireDictionary([
            "Class": "generic-password", "Service": .text(service), "Account": .text(account),
        ])
        .adding("Accessible", accessible.map { .text($0.name) })
    }

    /// The query for it.
    static func query(_ account: String? = "a", service: String? = "s") throws(Refusal) -> WireDictionary {
        try WireDictionary(["Class": "generic-password"])
            .adding("Service", service.map { .text($0) }).adding("Account", account.map { .text($0) })
    }

    static func reference(_ reference: Reference) throws(Refusal) -> WireDictionary {
        try WireDictionary(["Reference": .text(reference.description)])
    }
}

extension Bench {
    @discardableResult func add(
        _ item: WireDictionary, _ secret: String = "x", as who: Who = .one
    ) async throws(Refusal) -> StoredItem {
        try await vault.add(
            { () throws(Refusal) in who.grant() }, NewItem(item, for: .add, now: clock),
            IncomingSecret(SharedSecret(secret)))
    }

    @discardableResult func store(
        _ item: WireDictionary, _ secret: String = "x", as who: Who = .one
    ) async throws(Refusal) -> StoredItem {
        try await vault.storeItem(
            { () throws(Refusal) in who.grant() }, NewItem(item, for: .store, now: clock),
            IncomingSecret(SharedSecret(secret)))
    }

    func read(_ query: WireDictionary, as who: Who = .one) throws(Refusal) -> ItemWithSecret {
        try vault.read(who.grant(), Query(query, for: .read))
    }

    /// The secret that `Read` gives, as text.
    func secret(_ query: WireDictionary, as who: Who = .one) throws(Refusal) -> String {
        try read(query, as: who).secret.text
    }

    /// The secrets that `ReadAll` gives, in its order.
    func secrets(_ query: WireDictionary, as who: Who = .one) throws(Refusal) -> [String] {
        try vault.readAll(who.grant(), Query(query, for: .list)).map(\.secret.text)
    }

    func search(_ query: WireDictionary, as who: Who = .one) throws(Refusal) -> [ItemAttributes] {
        try vault.search(who.grant(), Query(query, for: .list))
    }

    /// The accounts that `Search` finds, in its order.
    func accounts(_ query: WireDictionary, as who: Who = .one) throws(Refusal) -> [String] {
        try search(query, as: who).map {
            String(decoding: $0.attributes[.account]?.blob ?? [], as: UTF8.self)
        }
    }

    @discardableResult func update(
        _ query: WireDictionary, _ changes: KeyValuePairs<String, WireDictionary.Value>,
        _ secret: String? = nil, as who: Who = .one
    ) async throws(Refusal) -> UInt32 {
        try await vault.update(
            { () throws(Refusal) in who.grant() }, Query(query, for: .update),
            Changes(WireDictionary(changes), now: clock), secret.map { IncomingSecret(SharedSecret($0)) })
    }

    @discardableResult func delete(
        _ query: WireDictionary, as who: Who = .one
    ) async throws(Refusal) -> UInt32 {
        try await vault.delete({ () throws(Refusal) in who.grant() }, Query(query, for: .delete))
    }

    @discardableResult func logout(
        _ service: String = "s", as who: Who = .one, always: Bool = false
    ) async throws(Refusal) -> LogoutOutcome {
        try await vault.logout(
            { () throws(Refusal) in who.grant() }, service: service, reason: "test", always: always)
    }

    func setPasscode(_ new: String, old: String = "") async throws(Refusal) {
        try await vault.setPasscode(.forTesting(), old: SharedSecret(old), new: SharedSecret(new))
    }

    func removePasscode(_ passcode: String) async throws(Refusal) {
        try await vault.removePasscode(.forTesting(), SharedSecret(passcode))
    }

    func unlock(_ passcode: String = "1234") async throws(Refusal) {
        try await vault.unlock(.forTesting(), SharedSecret(passcode))
    }

    func unlockAsAdministrator(_ passcode: String) async throws(Refusal) {
        try await vault.unlock(.forTesting(.administrator), SharedSecret(passcode))
    }

    func lock() throws(Refusal) { try vault.lock(.forTesting()) }

    /// The lock of the person's session.
    func lockForNobody() -> Bool { vault.lock(CustodianGrant()) }

    var lockNotices: [Notice] {
        notices.filter { if case .lockStateChanged = $0 { true } else { false } }
    }

    func unlockWithSession() async {
        await vault.unlockWithSession(CustodianGrant(), since: vault.locks)
    }

    @discardableResult func sweep() async throws(Refusal) -> UInt64? {
        try await vault.sweep(CustodianGrant())
    }

    func check() async throws(Refusal) -> CheckReport { try await vault.checkItems(.forTesting()) }
}

/// Something that tasks of one test tell one another.
@VaultActor final class Shared<Value: Sendable> {
    var value: Value

    init(_ value: Value) { self.value = value }
}

extension Bench {
    static func contents(of path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }
}
