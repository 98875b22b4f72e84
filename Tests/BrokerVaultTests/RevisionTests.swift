import BrokerModel
import Testing

/// A revision never comes back for one primary key: over deletions, moves and restarts as well.
@Suite struct RevisionTests {
    @VaultActor @Test func noRevisionComesTwice() async throws {
        let bench = try Bench()
        var seen: Set<UInt64> = []
        var last: UInt64 = 0
        func note(_ revision: UInt64, _ step: String) {
            #expect(revision > last && seen.insert(revision).inserted, "\(step)")
            last = revision
        }
        for round in 0..<4 {
            note(try await bench.add(.item()).revision, "add \(round)")
            note(try await bench.store(.item()).revision, "store \(round)")
            try await bench.update(.query(), [:], "y")
            note(try bench.read(.query()).attributes.revision, "update \(round)")
            try await bench.update(.query(), ["Accessible": "when-unlocked"])
            note(try bench.read(.query()).attributes.revision, "move to the other side \(round)")
            try await bench.update(.query(), ["AccessGroup": "g2"], as: .both)
            try await bench.update(.query(), ["AccessGroup": "g1"], as: .both)
            note(try bench.read(.query()).attributes.revision, "there and back \(round)")
            if round == 0 { try await bench.setPasscode("1234") }
            if round == 1 { try await bench.removePasscode("1234") }
            if round == 2 { try await bench.logout() } else { try await bench.delete(.query()) }
            bench.restart()
            if round == 0 { try await bench.unlock() }
        }
    }

    @VaultActor @Test func aRefusedChangeLeavesTheRevision() async throws {
        let bench = try Bench()
        try await bench.add(.item("1"))
        let stored = try await bench.add(.item("2"))
        _ = await refusal { () throws(Refusal) in try await bench.update(.query("2"), ["Account": "1"]) }
        _ = await refusal { () throws(Refusal) in try await bench.add(.item("2")) }
        #expect(try bench.read(.query("2")).attributes.revision == stored.revision)
    }

    @VaultActor @Test func rollingTheClassKeysLeavesRevisionsAndReferences() async throws {
        let bench = try Bench()
        try await bench.setPasscode("1234")
        let stored = try await bench.add(.item(accessible: .whenUnlocked))
        try await bench.removePasscode("1234")
        let attributes = try bench.read(.query()).attributes
        #expect(attributes.revision == stored.revision && attributes.reference == stored.reference)
    }
}
