import BrokerModel
import Testing

/// `MaxItems` and `MaxBytes`.
@Suite struct QuotaTests {
    let bench: Bench

    init() async throws { bench = try await Bench() }

    private func who(items: UInt64 = 1000, bytes: UInt64 = 1000) -> Who {
        var rules = GroupRules()
        rules.maxItems = items
        rules.maxBytes = bytes
        return Who(groups: ["g1", "g2"], rules: ["g1": rules])
    }

    @VaultActor @Test func aGroupHoldsSoManyItemsOnBothSidesTogether() async throws {
        let who = who(items: 2)
        try await bench.add(.item("1"), as: who)
        try await bench.add(.item("2", accessible: .whenUnlocked), as: who)
        #expect(
            await refusal { () throws(Refusal) in try await bench.add(.item("3"), as: who) } == .quotaExceeded
        )
        #expect(
            await refusal { () throws(Refusal) in try await bench.store(.item("3"), as: who) }
                == .quotaExceeded)
        try await bench.store(.item("1"), "y", as: who)
        try await bench.delete(.query("1"), as: who)
        try await bench.add(.item("3"), as: who)
        try await bench.add(.item("4").adding("AccessGroup", "g2"), as: Who(groups: ["g2"]))
    }

    @VaultActor @Test func aGroupHoldsSoManyBytesOfAttributesAndSecrets() async throws {
        let who = who(bytes: 100)
        try await bench.add(.item("1"), String(repeating: "s", count: 98), as: who)
        #expect(
            await refusal { () throws(Refusal) in try await bench.add(.item("2"), "", as: who) }
                == .quotaExceeded)
        let growth = await refusal { () throws(Refusal) in
            try await bench.update(.query("1"), [:], String(repeating: "s", count: 99), as: who)
        }
        #expect(growth == .quotaExceeded)
        try await bench.update(.query("1"), [:], "s", as: who)
        try await bench.add(.item("2"), String(repeating: "s", count: 95), as: who)
        #expect(try bench.number("SELECT bytes FROM groups WHERE name = 'g1'") == 100)
    }

    @VaultActor @Test func aGroupThatIsOverItsQuotaMayShrinkAndNotGrow() async throws {
        try await bench.add(.item("1"), String(repeating: "s", count: 500))
        let who = who(bytes: 100)
        try await bench.update(.query("1"), [:], String(repeating: "s", count: 400), as: who)
        try await bench.update(.query("1"), [:], String(repeating: "t", count: 400), as: who)
        #expect(
            await refusal { () throws(Refusal) in
                try await bench.update(.query("1"), [:], String(repeating: "t", count: 401), as: who)
            } == .quotaExceeded)
    }

    @VaultActor @Test func aMoveCountsInTheGroupItGoesTo() async throws {
        let who = who(items: 1)
        try await bench.add(.item("1"), as: Who(groups: ["g1"]))
        try await bench.add(.item("2"), as: Who(groups: ["g2"]))
        #expect(
            await refusal { () throws(Refusal) in
                try await bench.update(.query("2"), ["AccessGroup": "g1"], as: who)
            } == .quotaExceeded)
        #expect(try bench.accounts(.query("2"), as: .two) == ["2"])
    }
}
