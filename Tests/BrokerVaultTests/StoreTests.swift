import BrokerModel
import Testing

/// `Store`: add or replace in one step (INTERFACE, Items).
@Suite struct StoreTests {
    let bench: Bench

    init() async throws { bench = try await Bench() }

    @VaultActor @Test func itAddsWhatIsNotThere() async throws {
        let stored = try await bench.store(.item(), "x")
        #expect(stored.created)
        #expect(try bench.secret(.query()) == "x")
    }

    @VaultActor @Test func itReplacesAsIfDeletedAndAddedButForReferenceCreationAndProtection() async throws {
        let first = try await bench.store(.item().adding("Label", "l"), "x")
        let created = bench.clock
        bench.clock += 1_000_000
        let second = try await bench.store(.item(accessible: nil).adding("Comment", "c"), "y")
        #expect(!second.created && second.reference == first.reference && second.revision > first.revision)
        let item = try bench.read(.query())
        #expect(item.secret.text == "y")
        #expect(item.attributes.attributes[.label] == nil)
        #expect(item.attributes.attributes[.comment] == .text(Array("c".utf8)))
        #expect(item.attributes.created == created && item.attributes.modified == bench.clock)
        #expect(item.attributes.protection == .accessible(.afterFirstUnlock))
        #expect(try bench.accounts(.query(nil)) == ["a"])
    }

    @VaultActor @Test func theSameContentAgainStillRaisesTheRevision() async throws {
        let first = try await bench.store(.item(), "x")
        let second = try await bench.store(.item(), "x")
        #expect(second.revision > first.revision && second.reference == first.reference)
        let modified = try bench.read(.query()).attributes.modified
        #expect(modified == bench.clock + 1)
    }

    /// B022: protection is no part of the primary key and does not narrow an upsert.
    @VaultActor @Test func anotherClassMovesTheItemBetweenTheVaultsUnderItsReference() async throws {
        let first = try await bench.store(.item(accessible: .whenUnlocked), "x")
        let second = try await bench.store(.item(accessible: .afterFirstUnlock), "y")
        #expect(first.reference == second.reference && !second.created)
        #expect(try bench.secrets(.query()) == ["y"])
        #expect(try bench.number("SELECT count(*) FROM foreground_items") == 0)
        #expect(try bench.number("SELECT count(*) FROM background_items") == 1)
        #expect(
            bench.notices.last
                == .itemChanged(
                    group: "g1", reference: second.reference, change: .updated, revision: second.revision,
                    side: .background, previousSide: .foreground))
    }

    @VaultActor @Test func anotherAccessControlGivesAnotherReference() async throws {
        let gated = WireDictionary.Value.accessControl(
            protection: "after-first-unlock", flags: ["user-presence"])
        let first = try await bench.store(.item(), "x")
        let second = try await bench.store(.item(accessible: nil).adding("AccessControl", gated), "y")
        #expect(!second.created && second.reference != first.reference)
        let third = try await bench.store(.item(accessible: nil).adding("AccessControl", gated), "z")
        #expect(third.reference == second.reference)
        let kept = try await bench.store(.item(accessible: nil), "k")
        #expect(kept.reference == second.reference)
        #expect(
            await refusal { () throws(Refusal) in _ = try bench.read(.query()) } == .interactionNotAllowed)
        let byOldReference = try WireDictionary.reference(first.reference)
        #expect(await refusal { () throws(Refusal) in _ = try bench.read(byOldReference) } == .itemNotFound)
        let plain = try await bench.store(.item(), "p")
        #expect(plain.reference != second.reference)
        #expect(try bench.secrets(.query()) == ["p"])
    }

    @VaultActor @Test func compareAndSwapTakesTheRevisionThatIsThereAndNoOther() async throws {
        let first = try await bench.store(.item().adding("IfRevision", .time(0)), "1")
        let absent = try WireDictionary.item().adding("IfRevision", .time(0))
        let stale = try WireDictionary.item().adding("IfRevision", .time(first.revision + 7))
        for wrong in [absent, stale] {
            do throws(Refusal) {
                try await bench.store(wrong, "2")
                Issue.record("stored over another revision")
            } catch {
                #expect(error == .revisionMismatch(current: first.revision))
            }
        }
        let second = try await bench.store(.item().adding("IfRevision", .time(first.revision)), "3")
        #expect(try bench.secret(.query()) == "3")
        #expect(second.revision > first.revision)
    }

    @VaultActor @Test func compareAndSwapOfAnAbsentItemTakesZeroAlone() async throws {
        let wrong = try WireDictionary.item().adding("IfRevision", .time(1))
        do throws(Refusal) {
            try await bench.store(wrong)
            Issue.record("stored")
        } catch {
            #expect(error == .revisionMismatch(current: 0))
        }
    }

    @VaultActor @Test func ofManyThatCompareAndSwapAtOnceOneWins() async throws {
        let bench = try Bench(ThreadWorker())
        let first = try await bench.store(.item(), "0")
        let item = try WireDictionary.item().adding("IfRevision", .time(first.revision))
        let attempts = (0..<16).map { _ in
            Task.immediate { await refusal { () throws(Refusal) in try await bench.store(item, "1") } }
        }
        var met: [Refusal.Kind?] = []
        for attempt in attempts { met.append(await attempt.value) }
        let won = met.count { $0 == nil }
        #expect(met.allSatisfy { $0 == nil || $0 == .revisionMismatch })
        #expect(won == 1)
    }

    /// K3: the class that an item has decides, not the group's default.
    @VaultActor @Test func aStoreThatNamesNoClassIsJudgedByTheItemsOwn() async throws {
        var rules = GroupRules()
        rules.accessible = [.afterFirstUnlockThisDeviceOnly, .afterFirstUnlock]
        let who = Who(rules: ["g1": rules])
        try await bench.store(.item().adding("Synchronizable", true), "x", as: who)
        try await bench.store(.item(accessible: nil).adding("Synchronizable", true), "y", as: who)
        #expect(try bench.secret(.query().adding("Synchronizable", true)) == "y")
        let other = try WireDictionary.item("b", accessible: nil).adding("Synchronizable", true)
        #expect(await refusal { () throws(Refusal) in try await bench.store(other, as: who) } == .param)
        #expect(await refusal { () throws(Refusal) in try await bench.add(other, as: who) } == .param)
    }

    @VaultActor @Test func aBackgroundCallerLearnsNoMoreOfAForegroundItemThanThatItIsThere() async throws {
        try await bench.store(.item(accessible: .whenUnlocked), "x")
        let stale = try WireDictionary.item().adding("IfRevision", .time(99))
        for item in [try WireDictionary.item(), stale] {
            #expect(
                await refusal { () throws(Refusal) in try await bench.store(item, as: .background) }
                    == .duplicateItem)
        }
        let foreground = try WireDictionary.item("b", accessible: .whenUnlocked)
        #expect(
            await refusal { () throws(Refusal) in try await bench.store(foreground, as: .background) }
                == .missingEntitlement)
        #expect(try bench.secret(.query()) == "x")
    }
}
