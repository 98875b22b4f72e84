@_spi(Testing) import BrokerGate
import BrokerModel
import Sodium
import Testing

@testable import BrokerVault

/// Internal items beside those of the contract's own calls: neither sees the other, and both live and end alike.
@Suite struct InternalStandingTests {
    let bench: Bench

    init() async throws { bench = try await Bench() }

    private let lookup = ["server": "example.org", "Account": "a", "Service": "s"]

    // MARK: Apart

    @VaultActor @Test(arguments: ["generic-password", "internet-password"])
    func noNativeQuerySeesAnInternalItem(itemClass: String) async throws {
        try await bench.keep("Label", lookup)
        try await bench.collect("Label")
        let all = try WireDictionary(["Class": .text(itemClass)])
        for query in [all, try all.adding("Label", "Label")] {
            #expect(try bench.search(query).isEmpty)
            #expect(await refusal { () throws(Refusal) in _ = try bench.read(query) } == .itemNotFound)
            #expect(
                await refusal { () throws(Refusal) in try await bench.update(query, [:], "x") }
                    == .itemNotFound)
            #expect(await refusal { () throws(Refusal) in try await bench.delete(query) } == .itemNotFound)
        }
        #expect(try bench.found() == ["Label"] && bench.collections() == ["Label"])
    }

    @VaultActor @Test func noReferenceOfAnInternalItemIsOneToANativeCall() async throws {
        let item = try await bench.keep("it", lookup, secret: "1").reference
        for reference in [item, try await bench.collect("c")] {
            let query = try WireDictionary.reference(reference)
            #expect(try bench.search(query).isEmpty)
            #expect(await refusal { () throws(Refusal) in _ = try bench.read(query) } == .itemNotFound)
            let changes: KeyValuePairs<String, WireDictionary.Value> = ["AccessGroup": "g2"]
            #expect(
                await refusal { () throws(Refusal) in try await bench.update(query, changes, "2", as: .both) }
                    == .itemNotFound)
            #expect(await refusal { () throws(Refusal) in try await bench.delete(query) } == .itemNotFound)
        }
        #expect(try bench.keptSecret(item) == "1")
    }

    @VaultActor @Test func aRefreshIsOfNoInternalItem() async throws {
        let stored = try await bench.keep("it", lookup, secret: "1")
        let who = Who.one
        let granted = try await bench.vault.grantRefresh(
            { () throws(Refusal) in who.grant() }, of: stored.reference, at: stored.revision,
            RefreshTerms(application: "app", boot: [1], now: 1, deadline: 2))
        var isGranted = true
        if case .changed = granted { isGranted = false }
        #expect(!isGranted)
        #expect(try bench.keptSecret(stored.reference) == "1")
    }

    @VaultActor @Test func noInternalQuerySeesANativeItem() async throws {
        let native = try await bench.add(.item().adding("Label", "native"), "n")
        #expect(try bench.found() == [] && bench.collections() == [])
        for itemClass in [ItemClass.secretServiceItem, .secretServiceCollection] {
            let met = await refusal { () throws(Refusal) in
                _ = try bench.kept(native.reference, of: itemClass)
            }
            #expect(met == .itemNotFound)
        }
        let changed = await refusal { () throws(Refusal) in
            try await bench.rework(native.reference, secret: "x")
        }
        #expect(changed == .itemNotFound)
        #expect(
            await refusal { () throws(Refusal) in try await bench.drop(native.reference) } == .itemNotFound)
        #expect(try bench.secret(.query()) == "n")
    }

    /// A native item of the same words has its own primary key.
    @VaultActor @Test func bothHoldTheSameWords() async throws {
        let kept = try await bench.keep("it", ["Service": "s", "Account": "a"], secret: "kept")
        try await bench.add(.item(), "native")
        try await bench.store(.item(), "native 2")
        #expect(try bench.keptSecret(kept.reference) == "kept" && bench.secret(.query()) == "native 2")
        #expect(try bench.found(["Service": "s", "Account": "a"]) == ["it"])
    }

    @VaultActor @Test func nobodyIsToldOfThem() async throws {
        let stored = try await bench.keep("it", lookup)
        try await bench.rework(stored.reference, secret: "2")
        try await bench.keep("it", lookup, replacing: true)
        #expect(try await bench.move(from: "g1", to: "g2") == 1)
        try await bench.drop(stored.reference, as: .two)
        try await bench.collect("c")
        try await bench.sweep()
        #expect(bench.notices == [])
    }

    // MARK: Logout and move

    @VaultActor @Test func aLogoutOfTheGroupTakesThemAndOneOfAServiceDoesNot() async throws {
        try await bench.keep("it", ["service": "s", "server": "s"])
        try await bench.collect("c")
        try await bench.keep("theirs", as: .two)
        try await bench.add(.item(service: "s"))
        #expect(try await bench.logout("s").deleted == 1)
        #expect(try bench.found() == ["it"] && bench.collections() == ["c"])
        bench.forgetNotices()
        #expect(try await bench.logout("").deleted == 2)
        #expect(try bench.found() == [] && bench.collections() == [] && bench.found(as: .two) == ["theirs"])
        #expect(try bench.number("SELECT count(*) FROM tokens WHERE group_id = 1") == 0)
        #expect(
            bench.notices == [.loggedOut(group: "g1", service: "", epoch: 2, reason: "test")])
    }

    @VaultActor @Test(arguments: ["", "s"])
    func aLogoutBeforeTheFirstUnlockTakesTheSame(service: String) async throws {
        try await bench.keep("it", ["service": "s"])
        try await bench.collect("c")
        try await bench.add(.item(service: "s"))
        try await bench.setPasscode("1234")
        bench.restart()
        try await bench.logout(service)
        try await bench.unlock()
        #expect(try bench.search(.query(nil)).isEmpty)
        #expect(try bench.found() == (service.isEmpty ? [] : ["it"]))
        #expect(try bench.collections() == (service.isEmpty ? [] : ["c"]))
    }

    @VaultActor @Test func aMoveOfTheGroupTakesThemWithTheirPaths() async throws {
        let work = try await bench.collect("Work")
        let stored = try await bench.keep("it", lookup, secret: "1", in: .made(work))
        try await bench.add(.item(), "native")
        #expect(try await bench.move(from: "g1", to: "g2") == 3)
        #expect(try bench.found() == [] && bench.collections() == [])
        #expect(try bench.found(lookup, in: .made(work), as: .two) == ["it"])
        #expect(try bench.keptSecret(stored.reference, as: .two) == "1")
        #expect(try bench.collections(as: .two) == ["Work"] && bench.secret(.query(), as: .two) == "native")
    }

    // MARK: Keys

    @VaultActor @Test func theyAreOfTheBackgroundAndStayReadableWhileLocked() async throws {
        let stored = try await bench.keep("it", lookup, secret: "1")
        try await bench.setPasscode("1234")
        try bench.lock()
        #expect(try bench.found(lookup) == ["it"] && bench.keptSecret(stored.reference) == "1")
        try await bench.rework(stored.reference, secret: "2")
        bench.restart()
        #expect(await refusal { () throws(Refusal) in _ = try bench.found() } == .interactionNotAllowed)
        #expect(
            await refusal { () throws(Refusal) in _ = try bench.kept(stored.reference) }
                == .interactionNotAllowed)
        for call in 0..<3 {
            let met = await refusal { () throws(Refusal) in
                switch call {
                case 0: try await bench.keep("new")
                case 1: try await bench.rework(stored.reference, secret: "x")
                default: try await bench.drop(stored.reference)
                }
            }
            #expect(met == .interactionNotAllowed, "\(call)")
        }
        try await bench.unlock()
        #expect(try bench.keptSecret(stored.reference) == "2" && bench.found() == ["it"])
    }

    /// New class keys for every row; what is found by tokens stays so.
    @VaultActor @Test func removingThePasscodeRollsTheirKeys() async throws {
        let work = try await bench.collect("Work")
        let stored = try await bench.keep("it", lookup, secret: "1", in: .made(work))
        try await bench.setPasscode("1234")
        let before = try bench.number("SELECT class_key FROM background_items WHERE item_class = 3")
        try await bench.removePasscode("1234")
        #expect(try bench.number("SELECT class_key FROM background_items WHERE item_class = 3") != before)
        bench.restart()
        #expect(try bench.found(lookup, in: .made(work)) == ["it"] && bench.collections() == ["Work"])
        #expect(try bench.keptSecret(stored.reference) == "1")
        #expect(try await bench.check().damaged.values.allSatisfy { $0 == 0 })
    }

    /// Where a group takes no other class they go with the passcode, and nobody is told.
    @VaultActor @Test func thoseOfThePasscodesClassGoWithIt() async throws {
        var rules = GroupRules()
        rules.accessible = [.whenPasscodeSetThisDeviceOnly]
        let who = Who(rules: ["g1": rules])
        let met = await refusal { () throws(Refusal) in try await bench.keep("it", lookup, as: who) }
        #expect(met == .notAvailable)
        try await bench.setPasscode("1234")
        try await bench.keep("it", lookup, as: who)
        bench.forgetNotices()
        try await bench.removePasscode("1234")
        #expect(try bench.found() == [])
        #expect(bench.notices == [])
    }

    @VaultActor @Test func theGroupsClassesAreHeeded() async throws {
        func accessible(_ classes: Accessibility...) async throws -> Accessibility {
            var rules = GroupRules()
            rules.accessible = classes
            let stored = try await bench.keep("it", as: Who(rules: ["g1": rules]))
            return try bench.kept(stored.reference).attributes.protection.accessibility
        }
        #expect(try await accessible() == .afterFirstUnlockThisDeviceOnly)
        #expect(try await accessible(.afterFirstUnlock) == .afterFirstUnlock)
        #expect(
            try await accessible(.afterFirstUnlock, .afterFirstUnlockThisDeviceOnly)
                == .afterFirstUnlockThisDeviceOnly)
    }

    // MARK: Counts

    @VaultActor @Test func quotasCountThem() async throws {
        var rules = GroupRules()
        (rules.maxItems, rules.maxBytes) = (3, 1000)
        let who = Who(rules: ["g1": rules])
        try await bench.add(.item(), as: who)
        try await bench.collect("c", as: who)
        let stored = try await bench.keep("it", as: who)
        #expect(await refusal { () throws(Refusal) in try await bench.keep("4", as: who) } == .quotaExceeded)
        #expect(
            await refusal { () throws(Refusal) in try await bench.add(.item("b"), as: who) } == .quotaExceeded
        )
        let long = String(repeating: "v", count: 1000)
        let grown = await refusal { () throws(Refusal) in
            try await bench.rework(stored.reference, ["a": long], as: who)
        }
        #expect(grown == .quotaExceeded)
        try await bench.keep("it", secret: "y", replacing: true, as: who)
        try await bench.drop(stored.reference, as: who)
        try await bench.keep("4", as: who)
    }

    @VaultActor @Test func checkAndListGroupsCountThem() async throws {
        try await bench.keep("it", as: .two)
        try await bench.collect("c", as: .two)
        try await bench.add(.item())
        let report = try await bench.check()
        #expect(report.rows[.background] == 3 && report.damaged[.background, default: 0] == 0)
        let groups = try bench.vault.listGroups(.forTesting())
        #expect(groups.map(\.group) == ["g1", "g2"] && groups.map(\.background) == [1, 2])
        #expect(try bench.vault.groups() == ["g1", "g2"])
        try await bench.logout("", as: .two)
        #expect(try bench.vault.groups() == ["g1"])
    }
}
