@_spi(Testing) @_spi(Wiring) import BrokerGate
import BrokerModel
import SQLite
import Testing

@testable import BrokerVault

/// `FreshUntil`: what the vault says should be renewed, and when.
@Suite struct RenewalTests {
    static let life: UInt64 = 1_000_000_000
    static let all: Listeners = [.background: ["g1", "g2"], .foreground: ["g1", "g2"]]
    let bench: Bench

    init() async throws { bench = try await Bench() }

    @VaultActor @discardableResult private func add(
        _ account: String, life: UInt64 = life, accessible: Accessibility = .afterFirstUnlock
    ) async throws(Refusal) -> Reference {
        try await bench.add(
            .item(account, accessible: accessible).adding("FreshUntil", .time(bench.clock + life))
        ).reference
    }

    @VaultActor private func look(
        _ listeners: Listeners = all, clockWasSet: Bool = false
    ) throws(Refusal) -> (references: [Reference], next: UInt64?) {
        let (notices, next) = try bench.vault.renewals(
            CustodianGrant(), for: listeners, clockWasSet: clockWasSet)
        return (
            notices.compactMap {
                if case .refreshNeeded(_, let reference, _) = $0 { reference } else { nil }
            }, next
        )
    }

    @VaultActor @Test func theTimeIsBetween75And90PercentAndTheSameInBothLanguages() async throws {
        let start = bench.clock
        var percents: Set<UInt64> = []
        for number in 0..<64 {
            let reference = try await add("\(number)")
            let time = try #require(bench.vault.takeRenewalTime())
            percents.insert((time - bench.clock) * 100 / Self.life)
            #expect(
                try bench.number(
                    "SELECT \(ItemTable<Background>.renewalTime) FROM background_items WHERE hex(reference) = "
                        + "'\(reference.description.uppercased())'") == Int64(time))
        }
        #expect(start == bench.clock && percents.count > 8)
        #expect(percents.allSatisfy { (75...90).contains($0) })
    }

    @VaultActor @Test(arguments: [0, 1, 99, 100, 1_800_000_000_000_000, UInt64(Int64.max)])
    func anyTimeThatCanBeGivenIsTaken(_ freshUntil: UInt64) async throws {
        try await bench.add(.item().adding("FreshUntil", .time(freshUntil)))
        let time = try #require(bench.vault.takeRenewalTime())
        #expect(
            try bench.number("SELECT \(ItemTable<Background>.renewalTime) FROM background_items")
                == Int64(time))
        #expect(time <= freshUntil && (time == freshUntil || time >= bench.clock))
        #expect(try look().references.count == (time <= bench.clock ? 1 : 0))
    }

    @VaultActor @Test func eachRevisionIsToldOnceInTheOrderOfTimeAndTheNextIsKnown() async throws {
        let late = try await add("late", life: 2 * Self.life)
        let soon = try await add("soon")
        let first = try #require(try look().next)
        #expect(try look().references.isEmpty)
        bench.clock = first
        #expect(try look().references == [soon])
        let second = try #require(try look().next)
        bench.clock += 2 * Self.life
        #expect(second < bench.clock)
        #expect(try look() == ([late], nil))
        #expect(try look() == ([], nil))
        try await bench.update(.query("soon"), ["Comment": "c"])
        #expect(bench.vault.takeRenewalTime().map { $0 <= bench.clock } == true)
        #expect(try look().references == [soon])
    }

    @VaultActor @Test func aChangeThatDidNotComeAboutChangesNothing() async throws {
        try await add("a")
        _ = bench.vault.takeRenewalTime()
        bench.clock += Self.life
        #expect(try look().references.count == 1)
        #expect(
            await refusal { () throws(Refusal) in
                try await bench.update(.query("a"), ["IfRevision": .time(99)], "y")
            } == .revisionMismatch)
        #expect(bench.vault.takeRenewalTime() == nil)
        #expect(try look().references.isEmpty)
    }

    @VaultActor @Test func whatNobodyHearsIsKeptForWhoeverDoes() async throws {
        let reference = try await add("a")
        bench.clock += Self.life
        for listeners: Listeners in [[:], [.background: ["g2"]], [.foreground: ["g1"]]] {
            #expect(try look(listeners) == ([], nil))
        }
        #expect(try look([.background: ["g1"]]).references == [reference])
        #expect(try look([.background: ["g1"]]).references.isEmpty)
    }

    @VaultActor @Test func anItemIsToldOfWhenItsClassKeyIsThere() async throws {
        try await bench.setPasscode("1234")
        let background = try await add("b")
        let foreground = try await add("f", accessible: .whenUnlocked)
        bench.clock += Self.life
        bench.restart()
        try bench.vault.open()
        #expect(try look() == ([], nil))
        try await bench.unlock()
        try bench.lock()
        #expect(try look().references == [background])
        try await bench.unlock()
        #expect(try look().references == [foreground])
    }

    @VaultActor @Test func anItemThatWasWrittenLaterThanNowIsToldOfWhenTheClockWasSet() async throws {
        let reference = try await add("a")
        bench.clock -= 59_000_000
        #expect(try look(clockWasSet: true).references.isEmpty)
        bench.clock -= 2_000_000
        #expect(try look().references.isEmpty)
        #expect(try look(clockWasSet: true).references == [reference])
        #expect(try look(clockWasSet: true).references.isEmpty)
        bench.clock += 2 * Self.life
        #expect(try look().references.isEmpty)
    }

    /// Renewed under the right clock, it is still later than now: else each waking of the machine would renew it again.
    @VaultActor @Test func anItemFromTheFutureIsToldOfOnceHoweverOftenItIsRenewed() async throws {
        let reference = try await add("a")
        bench.clock -= 3600_000_000
        #expect(try look(clockWasSet: true).references == [reference])
        try await bench.update(.query("a"), ["FreshUntil": .time(bench.clock + 10 * Self.life)], "y")
        #expect(try bench.read(.query("a")).attributes.modified > bench.clock + 60_000_000)
        #expect(try look(clockWasSet: true).references.isEmpty)
    }

    @VaultActor @Test func aLookGivesSoManyAndSaysThatThereAreMore() async throws {
        var added: Set<Reference> = []
        for number in 0..<300 { added.insert(try await add("\(number)")) }
        bench.clock += Self.life
        var told: [Reference] = []
        for round in 1... {
            let (references, next) = try look()
            told += references
            #expect(references.count <= 128 && round <= 3)
            guard let next else { break }
            #expect(next <= bench.clock)
        }
        #expect(told.count == 300 && Set(told) == added)
    }

    @VaultActor @Test func whatALookFoundThatFailedIsToldByTheNext() async throws {
        let background = try await add("b")
        let foreground = try await add("f", accessible: .whenUnlocked)
        bench.clock += Self.life
        try bench.tamper("ALTER TABLE foreground_items RENAME TO away")
        #expect(await refusal { () throws(Refusal) in _ = try look() } != nil)
        try bench.tamper("ALTER TABLE away RENAME TO foreground_items")
        #expect(Set(try look().references) == [background, foreground])
        #expect(try look().references.isEmpty)
    }

    @VaultActor @Test func anExpiredItemIsGone() async throws {
        try await bench.add(
            .item().adding("FreshUntil", .time(bench.clock + 10)).adding("Expires", .time(bench.clock + 10)))
        bench.clock += 10
        #expect(try look() == ([], nil))
    }

    /// Tokens that come and go leave nothing behind in memory.
    @VaultActor @Test func whatIsGoneIsForgotten() async throws {
        for number in 0..<1100 {
            try await bench.add(.item("\(number % 50)").adding("FreshUntil", .time(1)))
            try await bench.store(.item("\(number % 50)").adding("FreshUntil", .time(1)))
            _ = try look()
            try await bench.delete(.query("\(number % 50)"))
        }
        let renewals = try #require(bench.vault.store).renewals
        #expect(renewals.toldCount <= 1024)
    }

    @VaultActor @Test func theSearchGoesByTheIndex() async throws {
        try await add("a")
        let plan = try Database(path: bench.path, mode: .readOnly).statement(
            """
            EXPLAIN QUERY PLAN SELECT 1 FROM background_items WHERE fresh_until IS NOT NULL AND group_id = 1
            AND \(ItemTable<Background>.renewalTime) >= 1 ORDER BY \(ItemTable<Background>.renewalTime)
            """)
        #expect(try plan.step())
        #expect(plan.text(3).contains("USING INDEX background_items_renewal"))
        #expect(try !plan.step())
    }

    @VaultActor @Test func whatTheSweepSawStaysExpiredWhereTheDiskDoesNotTakeIt() async throws {
        try await bench.add(.item().adding("Expires", .time(bench.clock + 10)))
        bench.clock += 10
        let other = try Database(path: bench.path, mode: .readWrite)
        try other.execute("BEGIN IMMEDIATE")
        #expect(await refusal { () throws(Refusal) in try await bench.sweep() } != nil)
        try other.execute("ROLLBACK")
        bench.clock -= 10
        #expect(try bench.search(.query()).isEmpty)
        #expect(bench.vault.needsSweep)
    }
}
