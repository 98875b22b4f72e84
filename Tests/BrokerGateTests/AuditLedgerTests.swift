import BrokerModel
import Testing

@testable import BrokerGate

/// No caller fills the journal, none takes the lines of another, and every event is counted.
@Suite struct AuditLedgerTests {
    private func entry(
        _ group: String = "g", process: UInt32? = 1, connection: String = ":1.1", program: String = "/bin/a",
        user: UInt32 = 1000, operation: String = "read", decision: AuditEntry.Decision = .deny,
        trust: Trust = .file
    ) -> AuditEntry {
        AuditEntry(
            operation: operation, application: nil, program: program, group: AccessGroup(group),
            decision: decision, objection: .group, trust: trust, connection: connection, processID: process,
            userID: user)
    }

    private func sum(_ lines: [AuditLedger.Line]) -> Int { lines.reduce(0) { $0 + $1.count } }

    /// Takes all and ends the window.
    private func lines(_ entries: [AuditEntry]) -> (now: [AuditLedger.Line], folded: [AuditLedger.Line]) {
        var ledger = AuditLedger()
        let now = entries.flatMap { ledger.take($0, at: 5) }
        return (now, ledger.endWindow())
    }

    @Test func whoStaysBelowTheBudgetHasEveryLine() {
        let entries = (0..<32).map { entry("g\($0 % 3)") }
        let (now, folded) = lines(entries)
        #expect(now.map(\.entry) == entries && folded.isEmpty)
        #expect(now.allSatisfy { $0.count == 1 && $0.groups == 1 && !$0.isFolded })
    }

    @Test func whatGoesBeyondIsOneLineWithItsNumber() throws {
        let (now, folded) = lines((0..<1000).map { entry("g\($0)") })
        #expect(now.count == 32)
        let line = try #require(folded.first)
        #expect(folded.count == 1 && line.count == 968 && line.groups == 968 && line.isFolded)
        #expect(line.entry.group == nil && line.entry.connection == ":1.1" && line.entry.processID == 1)
        #expect(line.entry.operation == "read" && line.entry.program == "/bin/a")
    }

    @Test func oneGroupKeepsItsName() throws {
        let line = try #require(lines((0..<40).map { _ in entry("same") }).folded.first)
        #expect(line.entry.group == AccessGroup("same") && line.groups == 1 && line.count == 8)
    }

    @Test func operationsAndDecisionsAreCountedApart() {
        let entries = (0..<100).flatMap { number in
            [
                entry("g\(number)"), entry("g\(number)", operation: "delete"),
                entry("g\(number)", decision: .observe),
            ]
        }
        let (now, folded) = lines(entries)
        #expect(now.count == 32 && folded.count == 3 && sum(now + folded) == 300)
        #expect(
            Set(folded.map { "\($0.entry.decision.rawValue) \($0.entry.operation)" })
                == ["deny read", "deny delete", "observe read"])
    }

    @Test func anotherCallersLinesAreAllThere() {
        let quiet = (0..<32).map { entry("q\($0)", process: 2, connection: ":1.2", program: "/bin/quiet") }
        var entries: [AuditEntry] = []
        for number in 0..<5000 {
            entries.append(entry("g\(number)"))
            if number % 157 == 0, number / 157 < quiet.count { entries.append(quiet[number / 157]) }
        }
        let (now, folded) = lines(entries)
        #expect(now.map(\.entry).filter { $0.program == "/bin/quiet" } == quiet)
        #expect(sum(now + folded) == entries.count && now.count + folded.count == 32 + 32 + 1)
    }

    /// Another connection, process or program is no way to more lines without end.
    @Test func manyConnectionsOfAProcessAreOneCaller() {
        let (now, folded) = lines((0..<2000).map { entry("g\($0)", connection: ":1.\($0)") })
        #expect(now.count == 32 && folded.count == 1 && sum(now + folded) == 2000)
        #expect(folded[0].entry.connection == "" && folded[0].entry.processID == 1)
    }

    @Test func manyProcessesOfAProgramAreOneCaller() {
        let entries = (0..<2000).flatMap { process in
            (0..<40).map { entry("g\($0)", process: UInt32(process), connection: ":1.\(process)") }
        }
        let (now, folded) = lines(entries)
        #expect(now.count == AuditLedger.linesPerProgramMax)
        #expect(folded.count == 1 && sum(now + folded) == entries.count)
        #expect(folded[0].groups == 40 && folded[0].entry.processID == nil)
        #expect(folded[0].entry.program == "/bin/a" && folded[0].entry.connection == "")
    }

    @Test func manyProgramsOfAUserAreBoundedAndCostNoOtherUser() {
        let entries = (0..<3000).flatMap { number in
            [
                entry("a\(number)", process: UInt32(number), program: "/home/a/\(number)"),
                entry(
                    "b\(number % 9)", process: 999_999, connection: ":2.1", program: "/bin/b", user: 1001,
                    decision: .allow),
            ]
        }
        let (now, folded) = lines(entries)
        let (first, second) = (now.filter { $0.entry.userID == 1000 }, now.filter { $0.entry.userID == 1001 })
        #expect(first.count == AuditLedger.linesPerUserMax && second.count == 32)
        #expect(sum(now + folded) == entries.count)
        let ofFirst = folded.filter { $0.entry.userID == 1000 }
        #expect(ofFirst.count == 1 && ofFirst[0].entry.program == nil)
    }

    @Test func whatCannotBeToldApartAnyMoreIsStillCounted() {
        var ledger = AuditLedger()
        var lines: [AuditLedger.Line] = []
        var count = 0
        for user in 0..<1500 {
            for number in 0..<100 {
                let process = UInt32(user * 100 + number)
                lines += ledger.take(
                    entry("g\(process)", process: process, program: "/\(process)", user: UInt32(user)), at: 1)
                count += 1
            }
        }
        lines += ledger.endWindow()
        #expect(sum(lines) == count)
        #expect(lines.count <= 513 * (AuditLedger.linesPerUserMax + 1))
        #expect(lines.allSatisfy { $0.groups <= 65_536 + 1 })
    }

    @Test func aCallerWithoutAProcessHasItsConnection() {
        let entries = (0..<80).map { entry("g", process: nil, connection: $0 % 2 == 0 ? ":1.1" : ":1.2") }
        let (now, folded) = lines(entries)
        #expect(now.count == 64 && folded.map(\.count).sorted() == [8, 8])
    }

    @Test func theWeakestTrustIsTold() {
        let entries = (0..<64).map { entry("g", trust: $0 == 40 ? .user : .file) }
        #expect(lines(entries).folded.map(\.entry.trust) == [.user])
    }

    @Test func aWindowEndsByItsClockAndGivesANewBudget() {
        var ledger = AuditLedger()
        #expect(ledger.endMicroseconds == nil && ledger.endWindow().isEmpty)
        for number in 0..<50 { _ = ledger.take(entry("g\(number)"), at: 1_000) }
        let end = 1_000 + AuditLedger.windowMicroseconds
        #expect(ledger.endMicroseconds == end)
        #expect(ledger.take(entry("late"), at: end - 1).isEmpty)
        let next = ledger.take(entry("next"), at: end)
        #expect(next.map(\.count) == [19, 1] && next.map(\.isFolded) == [true, false])
        #expect(ledger.endMicroseconds == end + AuditLedger.windowMicroseconds)
        #expect(ledger.endWindow().isEmpty && ledger.endMicroseconds == nil)
    }
}
