@_spi(Testing) import BrokerGate
import BrokerModel
import Testing

@testable import BrokerVault

/// SEMANTICS 3.5 and the scenarios S062 to S068; `Logout`.
@Suite struct DeleteTests {
    let bench: Bench

    init() async throws { bench = try await Bench() }

    @VaultActor @Test func everyMatchGoesAndNothingElse() async throws {
        for account in ["1", "2", "3"] { try await bench.add(.item(account)) }
        try await bench.add(.item("4", service: "t"))
        #expect(try await bench.delete(.query(nil)) == 3)
        #expect(try bench.accounts(.query(nil, service: nil)) == ["4"])
        #expect(await refusal { () throws(Refusal) in try await bench.delete(.query(nil)) } == .itemNotFound)
        #expect(bench.vault.needsCheckpoint)
    }

    @VaultActor @Test func aGroupInTheQueryNarrowsItAndNoneMeansAll() async throws {
        for who in [Who.one, .two] { try await bench.add(.item(), as: who) }
        try await bench.delete(.query().adding("AccessGroup", "g1"), as: .both)
        #expect(try bench.accounts(.query(), as: .both) == ["a"])
        try await bench.add(.item(), as: .one)
        #expect(try await bench.delete(.query(), as: .both) == 2)
    }

    @VaultActor @Test func aSynchronizableItemIsDeletedWhenItIsMeantAndLeavesATombstone() async throws {
        try await bench.add(.item().adding("Synchronizable", true), "x")
        #expect(await refusal { () throws(Refusal) in try await bench.delete(.query()) } == .itemNotFound)
        try await bench.delete(.query().adding("Synchronizable", true))
        #expect(try bench.number("SELECT count(*) FROM tombstones") == 1)
        #expect(try bench.search(.query().adding("Synchronizable", "any")).isEmpty)
        try await bench.add(.item().adding("Synchronizable", true), "y")
        #expect(try bench.number("SELECT count(*) FROM tombstones") == 0)
    }

    @VaultActor @Test func aLocalItemLeavesNothing() async throws {
        try await bench.add(.item().adding("Label", "l"))
        try await bench.delete(.query())
        for table in ["tombstones", "tokens", "primary_keys", "background_items"] {
            #expect(try bench.number("SELECT count(*) FROM \(table)") == 0, "\(table)")
        }
        #expect(try bench.number("SELECT background + foreground + bytes FROM groups") == 0)
    }

    @VaultActor @Test func compareAndSwapKeepsWhatHasChanged() async throws {
        let stored = try await bench.add(.item())
        let stale = try WireDictionary.query().adding("IfRevision", .time(stored.revision + 1))
        #expect(await refusal { () throws(Refusal) in try await bench.delete(stale) } == .revisionMismatch)
        try await bench.delete(.query().adding("IfRevision", .time(stored.revision)))
        #expect(try bench.search(.query()).isEmpty)
    }

    @VaultActor @Test func aGatedItemIsDeletedWithoutAPrompt() async throws {
        let gated = WireDictionary.Value.accessControl(
            protection: "when-unlocked", flags: ["biometry-any"])
        try await bench.add(.item(accessible: nil).adding("AccessControl", gated))
        #expect(try await bench.delete(.query()) == 1)
    }

    @VaultActor @Test func aRemovalIsToldWithTheRevisionThatIsGone() async throws {
        let stored = try await bench.add(.item(accessible: .whenUnlocked))
        bench.forgetNotices()
        try await bench.delete(.query())
        #expect(
            bench.notices == [
                .itemChanged(
                    group: "g1", reference: stored.reference, change: .removed, revision: stored.revision,
                    side: .foreground, previousSide: .foreground)
            ])
    }

    @VaultActor @Test func logoutTakesTheServiceInEveryClassAndNothingElse() async throws {
        try await bench.add(.item("1", accessible: .whenUnlocked))
        try await bench.add(.item("2"))
        try await bench.add(.item("3").adding("Synchronizable", true))
        try await bench.add(WireDictionary(["Class": "internet-password", "Server": "s"]))
        try await bench.add(.item("4", service: "t"))
        try await bench.add(.item("5"), as: .two)
        bench.forgetNotices()
        let outcome = try await bench.logout("s")
        #expect(outcome.deleted == 4 && outcome.epoch == 1)
        #expect(bench.notices == [.loggedOut(group: "g1", service: "s", epoch: 1, reason: "test")])
        #expect(try bench.accounts(.query(nil, service: nil).adding("Synchronizable", "any")) == ["4"])
        #expect(try bench.accounts(.query(nil), as: .two) == ["5"])
        #expect(try bench.number("SELECT count(*) FROM tombstones") == 1)
        #expect(bench.vault.needsCheckpoint)
    }

    @VaultActor @Test func logoutOfNothingIsNoErrorAndNoSignalUnlessItIsForced() async throws {
        #expect(try await bench.logout().epoch == 0)
        #expect(bench.notices.isEmpty)
        let forced = try await bench.logout(always: true)
        #expect(forced.deleted == 0 && forced.epoch == 1)
        #expect(bench.notices == [.loggedOut(group: "g1", service: "s", epoch: 1, reason: "test")])
    }

    @VaultActor @Test func logoutOfNoServiceIsOfTheWholeGroup() async throws {
        try await bench.add(.item("1"))
        try await bench.add(.item("2", service: "t", accessible: .whenUnlocked))
        try await bench.add(.item("3"), as: .two)
        #expect(try await bench.logout("").deleted == 2)
        #expect(try bench.accounts(.query(nil, service: nil), as: .both) == ["3"])
    }

    @VaultActor @Test func epochsGrowByOneForEachGroupAndSurviveARestart() async throws {
        for epoch in 1...3 { #expect(try await bench.logout(always: true).epoch == UInt64(epoch)) }
        #expect(try await bench.logout(as: .two, always: true).epoch == 1)
        bench.restart()
        #expect(try bench.vault.epoch(of: "g1") == 3)
        #expect(try await bench.logout(always: true).epoch == 4)
    }

    @VaultActor @Test func anItemThatIsMovedAwayIsCountedWhereItIs() async throws {
        try await bench.add(.item("1", accessible: .whenUnlocked), as: .both)
        try await bench.add(.item("2"), as: .both)
        try await bench.update(.query(nil), ["AccessGroup": "g2"], as: .both)
        let groups = try bench.vault.listGroups(.forTesting())
        #expect(groups.map(\.group) == ["g2"])
        #expect(groups.map(\.background) == [1] && groups.map(\.foreground) == [1])
    }

    @VaultActor @Test func anAdministratorMovesAGroupWhole() async throws {
        try await bench.add(.item("1", accessible: .whenUnlocked), "1")
        try await bench.add(.item("2"), "2")
        let mover = Who(groups: ["g1", "g2"])
        let moved = try await bench.vault.moveItems({ () throws(Refusal) in mover.grant() }, to: "g2")
        #expect(moved == 2)
        #expect(try bench.secrets(.query(nil), as: .two) == ["1", "2"])
        #expect(try bench.search(.query(nil), as: .one).isEmpty)
    }
}
