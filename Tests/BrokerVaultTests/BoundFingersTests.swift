@_spi(Testing) import BrokerGate
import BrokerModel
import Sodium
import Testing

@testable import BrokerVault

/// Items that are bound to the fingers which are enrolled (`biometry-current-set`), and their end.
@Suite struct BoundFingersTests {
    let bench: Bench

    init() async throws { bench = try await Bench() }

    private static func set(_ byte: UInt8) -> FingerSet {
        FingerSet(
            reader: [UInt8](repeating: 1, count: 32), fingers: [UInt8](repeating: byte, count: 32))!
    }

    private let thumb = set(2)
    private let index = set(3)

    @VaultActor private func item(_ protection: Accessibility = .whenUnlocked) throws -> WireDictionary {
        try .item(accessible: nil).adding(
            "AccessControl", .accessControl(protection: protection.name, flags: ["biometry-current-set"]))
    }

    @VaultActor private func store(
        _ item: WireDictionary, fingers: FingerSet?, _ secret: String = "x"
    ) async throws(Refusal) {
        _ = try await bench.vault.storeItem(
            { () throws(Refusal) in Who.one.grant() }, NewItem(item, for: .store, now: bench.clock),
            IncomingSecret(SharedSecret(secret)), fingers: fingers)
    }

    /// What the item demands of a person, and the refusal that says it.
    @VaultActor private func demanded() throws -> (demands: [Demand], refusal: Refusal) {
        do throws(Refusal) {
            _ = try bench.read(.query())
        } catch {
            return (error.demands, error)
        }
        throw Refusal(.param, "The item is not gated.")
    }

    /// The secret, once the person has shown what is demanded.
    @VaultActor private func opened(_ demands: [Demand]) throws(Refusal) -> String {
        var proofs = Proofs.none
        proofs.accept(demands)
        return try bench.vault.read(Who.one.grant(), Query(.query(), for: .read), proofs).secret.text
    }

    @VaultActor @Test func nothingIsStoredUntilTheFingersAreKnown() async throws {
        let item = try item()
        for method in ["add", "store"] {
            do throws(Refusal) {
                if method == "add" { try await bench.add(item) } else { try await bench.store(item) }
                Issue.record("\(method) is refused")
            } catch {
                #expect(error.asksForFingers && error.kind == .interactionNotAllowed)
            }
        }
        #expect(try bench.number("SELECT count(*) FROM foreground_items") == 0)
        #expect(try bench.number("PRAGMA user_version") == 1)
    }

    @VaultActor @Test func aRowSaysInItsSealWhichFingersAndRaisesTheVersion() async throws {
        try await store(item(), fingers: thumb)
        #expect(try bench.number("PRAGMA user_version") == 4)
        bench.restart()
        let (demands, _) = try demanded()
        #expect(demands.map(\.constraint.fingers) == [thumb])
        #expect(try opened(demands) == "x")
        for hash in [thumb.fingers, thumb.reader] {
            #expect(!contains(hash, try Bench.contents(of: bench.path)))
            #expect(!contains(hash, try Bench.contents(of: bench.path + "-wal")))
        }
        // A recovery slot would be of an earlier version.
        try await bench.setPasscode("1234")
        _ = try await bench.createRecoveryKey()
        #expect(try bench.number("PRAGMA user_version") == 4)
    }

    private func contains(_ part: [UInt8], _ whole: [UInt8]) -> Bool {
        whole.indices.dropLast(part.count - 1).contains {
            whole[$0] == part[0] && whole[$0..<$0 + part.count].elementsEqual(part)
        }
    }

    @VaultActor @Test(arguments: [Accessibility.whenUnlocked, .afterFirstUnlock])
    func whatIsClosedStaysSoWhoeverShowsWhat(protection: Accessibility) async throws {
        try await store(item(protection), fingers: thumb)
        let (demands, _) = try demanded()
        bench.forgetNotices()
        try await bench.vault.close(demands)
        #expect(bench.notices.isEmpty)
        for _ in 0..<2 {
            let (none, refusal) = try demanded()
            #expect(none.isEmpty && refusal.kind == .authFailed)
            // What was shown for it before counts no more either.
            #expect(throws: Refusal.closed) { try opened(demands) }
            bench.restart()
        }
        #expect(try await bench.check().damaged.values.allSatisfy { $0 == 0 })
        #expect(try await bench.delete(.query()) == 1)
        for table in ["tokens", "primary_keys"] {
            #expect(try bench.number("SELECT count(*) FROM \(table)") == 0, "\(table)")
        }
        #expect(try bench.number("SELECT background + foreground + bytes FROM groups") == 0)
    }

    @VaultActor @Test func whatWasStoredAnewIsNotClosedByAnOldDemand() async throws {
        try await store(item(), fingers: thumb)
        let (old, _) = try demanded()
        try await store(item(), fingers: index, "new")
        try await bench.vault.close(old)
        let (demands, _) = try demanded()
        #expect(demands.map(\.constraint.fingers) == [index])
        #expect(try opened(demands) == "new")
        #expect(await refusal { () throws(Refusal) in _ = try opened(old) } == .interactionNotAllowed)
    }

    @VaultActor @Test func aLockedItemIsNotClosed() async throws {
        try await bench.setPasscode("1234")
        try await bench.unlock()
        try await store(item(), fingers: thumb)
        let (demands, _) = try demanded()
        try bench.lock()
        #expect(
            await refusal { () throws(Refusal) in try await bench.vault.close(demands) }
                == .interactionNotAllowed)
        try await bench.unlock()
        #expect(try opened(demands) == "x")
    }

    @VaultActor @Test func aChangeAndOtherClassKeysKeepTheSet() async throws {
        try await bench.setPasscode("1234")
        try await bench.unlock()
        try await store(item(), fingers: thumb)
        var proofs = Proofs.none
        proofs.accept(try demanded().demands)
        _ = try await bench.vault.update(
            { () throws(Refusal) in Who.one.grant() }, Query(.query(), for: .update),
            Changes(WireDictionary(["Label": "l"]), now: bench.clock),
            IncomingSecret(SharedSecret("new")), proofs: proofs)
        try await bench.removePasscode("1234")
        bench.restart()
        let (demands, _) = try demanded()
        #expect(demands.map(\.constraint.fingers) == [thumb])
        #expect(try opened(demands) == "new")
    }

    /// What a broker stored that bound nothing: the bytes are those of then.
    @VaultActor @Test func anItemOfBeforeIsClosed() async throws {
        let control = try AccessControl(protection: .whenUnlocked, flags: [.biometryCurrentSet])
        let attributes = try Query(.query(), for: .list).attributes
        #expect(
            AttributeCoding.encode(AttributeSet(), protection: .accessControl(control)) == [1, 4, 0, 0])
        try await bench.vault.change { (writer, _) throws(Refusal) -> (Void, [Notice]) in
            _ = try writer.put(
                ItemWriter.Content(
                    itemClass: .genericPassword, group: "g1", protection: .accessControl(control),
                    synchronizable: false, attributes: attributes),
                SharedSecret("old"), reference: ItemWriter.newReference(), created: 1, replacing: nil,
                rules: GroupRules())
            return ((), [])
        }
        #expect(try bench.number("PRAGMA user_version") == 1)
        #expect(await refusal { () throws(Refusal) in _ = try bench.read(.query()) } == .authFailed)
        #expect(try bench.search(.query().adding("SkipGated", true)).isEmpty)
        #expect(try await bench.delete(.query()) == 1)
    }

    /// A set that is cut off, on an item that is bound to none, or of another version.
    @Test func otherBytesAreDamage() throws {
        let control = try AccessControl(protection: .whenUnlocked, flags: [.biometryCurrentSet])
        let whole = AttributeCoding.encode(
            AttributeSet(), protection: .accessControl(control), fingers: thumb)
        func decoded(_ bytes: [UInt8]) -> FingerSet?? {
            AttributeCoding.decode(bytes.span, accessibility: .whenUnlocked).map(\.fingers)
        }
        #expect(decoded(whole) == .some(thumb))
        for count in 0..<whole.count { #expect(decoded(Array(whole.prefix(count))) == nil, "\(count)") }
        for (place, byte) in [(0, UInt8(3)), (0, 0), (0, 1), (1, 2), (1, 0xff)] {
            var other = whole
            other[place] = byte
            #expect(decoded(other) == nil, "\(place) \(byte)")
        }
    }
}
