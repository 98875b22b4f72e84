@_spi(Testing) import BrokerGate
import BrokerModel
import Testing

@testable import BrokerVault

/// Every call of one caller against every item of another group or role: nothing is seen, nothing is changed.
@Suite struct IsolationTests {
    private static let calls = [
        "read", "readAll", "search", "update", "update secret", "delete", "move", "reference",
        "update reference",
        "delete reference", "logout", "logout all",
    ]

    /// The items that a caller of `g1` must not reach: the same primary key in another group, for each class.
    @VaultActor @Test(arguments: calls, [DeviceState.unlocked, .locked])
    func anotherGroupsItemsAreAbsent(call: String, state: DeviceState) async throws {
        let bench = try Bench()
        if state == .locked { try await bench.setPasscode("1234") }
        var references: [Reference] = []
        for (index, accessibility) in [Accessibility.whenUnlocked, .afterFirstUnlock].enumerated() {
            let item = try WireDictionary.item("a\(index)", accessible: accessibility)
            references.append(
                try await bench.add(item.adding("Label", "l"), "theirs\(index)", as: .two).reference)
        }
        if state == .locked { try bench.lock() }
        let before = try rows(bench)
        for reference in references {
            for query in [
                try WireDictionary.query(nil), try .query("a0"), try .query("a1"),
                try WireDictionary(["Class": "generic-password", "Label": "l"]),
                try WireDictionary(["Class": "generic-password"]),
            ] {
                let met = await refusal { () throws(Refusal) in
                    try await self.perform(call, query, reference, bench)
                }
                #expect(met == (call == "search" || call.hasPrefix("logout") ? nil : .itemNotFound))
            }
        }
        #expect(try rows(bench) == before)
        if state == .locked { try await bench.unlock() }
        #expect(try bench.secrets(.query(nil), as: .two) == ["theirs0", "theirs1"])
    }

    @VaultActor private func perform(
        _ call: String, _ query: WireDictionary, _ reference: Reference, _ bench: Bench, as who: Who = .one
    ) async throws(Refusal) {
        let byReference = try WireDictionary.reference(reference)
        switch call {
        case "read": _ = try bench.read(query, as: who)
        case "readAll": _ = try bench.secrets(query, as: who)
        case "search": #expect(try bench.search(query, as: who).isEmpty)
        case "update": try await bench.update(query, ["Comment": "c"], as: who)
        case "update secret": try await bench.update(query, [:], "mine", as: who)
        case "delete": try await bench.delete(query, as: who)
        case "move": try await bench.update(query, ["AccessGroup": "g1"], as: who)
        case "reference": _ = try bench.read(byReference, as: who)
        case "update reference": try await bench.update(byReference, [:], "mine", as: who)
        case "delete reference": try await bench.delete(byReference, as: who)
        case "logout": #expect(try await bench.logout("s", as: who).deleted == 0)
        default: #expect(try await bench.logout("", as: who).deleted == 0)
        }
    }

    @VaultActor private func rows(_ bench: Bench) throws -> Int64 {
        let counts = try ["background_items", "foreground_items", "tokens", "primary_keys"].map { table in
            try bench.number("SELECT count(*) FROM \(table)") ?? -1
        }
        let revisions = try bench.number("SELECT sum(revision) FROM groups") ?? -1
        return counts.reduce(revisions) { $0 * 100 + $1 }
    }

    @VaultActor @Test func theSamePrimaryKeyInTwoGroupsIsTwoItems() async throws {
        let bench = try Bench()
        try await bench.add(.item(), "mine", as: .one)
        try await bench.add(.item(), "theirs", as: .two)
        try await bench.store(.item(), "mine 2", as: .one)
        try await bench.update(.query(), [:], "mine 3", as: .one)
        #expect(try bench.secret(.query(), as: .two) == "theirs")
        try await bench.delete(.query(), as: .one)
        #expect(try bench.secrets(.query(), as: .both) == ["theirs"])
    }

    @VaultActor @Test(arguments: calls.filter { !$0.hasPrefix("logout") && $0 != "move" })
    func aBackgroundCallerSeesNoForegroundItem(call: String) async throws {
        let bench = try Bench()
        let stored = try await bench.add(.item(accessible: .whenUnlocked), "front")
        let met = await refusal { () throws(Refusal) in
            try await self.perform(call, .query(), stored.reference, bench, as: .background)
        }
        #expect(met == (call == "search" ? nil : .itemNotFound))
        #expect(try bench.secret(.query()) == "front")
    }

    @VaultActor @Test func aBackgroundCallerMovesNothingToTheForeground() async throws {
        let bench = try Bench()
        try await bench.add(.item(), "x")
        let met = await refusal { () throws(Refusal) in
            try await bench.update(.query(), ["Accessible": "when-unlocked"], as: .background)
        }
        #expect(met == .missingEntitlement)
        #expect(try bench.read(.query(), as: .background).secret.text == "x")
    }

    @VaultActor @Test func aGroupInTheQueryNarrowsTheCallersGroups() async throws {
        let bench = try Bench()
        for (who, secret) in [(Who.one, "1"), (.two, "2")] { try await bench.add(.item(), secret, as: who) }
        #expect(try bench.secrets(.query().adding("AccessGroup", "g2"), as: .both) == ["2"])
        #expect(try bench.search(.query().adding("AccessGroup", "g2"), as: .one).isEmpty)
    }
}
