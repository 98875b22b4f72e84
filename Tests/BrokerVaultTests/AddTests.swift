import BrokerModel
import Sodium
import Testing

@testable import BrokerVault

/// SEMANTICS 3.2 and the scenarios S001 to S011, S031 to S033.
@Suite struct AddTests {
    let bench: Bench

    init() async throws { bench = try await Bench() }

    @VaultActor @Test func anItemReadsBackWithWhatWasGivenAndWhatTheBrokerSets() async throws {
        let stored = try await bench.add(
            .item("a").adding("Label", "l").adding("Creator", .number(9)).adding("Invisible", true), "x")
        let item = try bench.read(.query())
        #expect(item.secret.text == "x")
        let attributes = item.attributes
        #expect(attributes.attributes[.label] == .text(Array("l".utf8)))
        #expect(attributes.attributes[.creator] == .number(9))
        #expect(attributes.attributes[.invisible] == .flag(true))
        #expect(attributes.accessGroup == "g1")
        #expect(attributes.protection == .accessible(.afterFirstUnlock))
        #expect(attributes.reference == stored.reference && attributes.revision == stored.revision)
        #expect(attributes.created == bench.clock && attributes.modified == bench.clock)
        #expect(!attributes.synchronizable && stored.created)
    }

    @VaultActor @Test func aSecondItemOfOnePrimaryKeyIsRefusedAndChangesNothing() async throws {
        try await bench.add(.item("a"), "x")
        #expect(
            await refusal { () throws(Refusal) in try await bench.add(.item("a"), "y") } == .duplicateItem)
        #expect(try bench.secrets(.query()) == ["x"])
    }

    @VaultActor @Test(arguments: ["Generic", "Label", "Comment", "Description"])
    func whatIsNoPrimaryKeyDoesNotTellItemsApart(key: String) async throws {
        try await bench.add(.item("a"))
        let other = try WireDictionary.item("a").adding(key, "other")
        #expect(await refusal { () throws(Refusal) in try await bench.add(other) } == .duplicateItem)
    }

    @VaultActor @Test func theClassOfProtectionIsNoPrimaryKey() async throws {
        try await bench.add(.item("a", accessible: .afterFirstUnlock))
        let other = try WireDictionary.item("a", accessible: .whenUnlocked)
        #expect(await refusal { () throws(Refusal) in try await bench.add(other) } == .duplicateItem)
    }

    @VaultActor @Test func anotherServiceGroupOrSynchronizabilityIsAnotherItem() async throws {
        try await bench.add(.item("a"), "1")
        try await bench.add(.item("a", service: "t"), "2")
        try await bench.add(.item("a"), "3", as: .two)
        try await bench.add(.item("a").adding("Synchronizable", true), "4")
        #expect(try bench.secrets(.query("a", service: nil), as: .one) == ["1", "2"])
        #expect(try bench.secret(.query(), as: .two) == "3")
        #expect(try bench.secret(.query().adding("Synchronizable", true)) == "4")
        #expect(try bench.secrets(.query().adding("Synchronizable", "any")) == ["1", "4"])
    }

    @VaultActor @Test func anItemWithoutAccountAndServiceIsOneItem() async throws {
        let bare = try WireDictionary(["Class": "generic-password"])
        let empty = try WireDictionary(["Class": "generic-password", "Account": "", "Service": .bytes([])])
        try await bench.add(bare, "x")
        #expect(await refusal { () throws(Refusal) in try await bench.add(bare) } == .duplicateItem)
        #expect(await refusal { () throws(Refusal) in try await bench.add(empty) } == .duplicateItem)
        #expect(try bench.secret(empty) == "x")
    }

    @VaultActor @Test func anOmittedPortIsPortZero() async throws {
        let server = try WireDictionary(["Class": "internet-password", "Server": "h"])
        try await bench.add(server, "x")
        #expect(
            await refusal { () throws(Refusal) in try await bench.add(server.adding("Port", .number(0))) }
                == .duplicateItem)
        try await bench.add(server.adding("Port", .number(443)), "y")
        #expect(try bench.secrets(server) == ["x", "y"])
        #expect(try bench.secrets(server.adding("Port", .number(0))) == ["x"])
    }

    @VaultActor @Test func theOneClassIsNotTheOther() async throws {
        try await bench.add(WireDictionary(["Class": "internet-password", "Account": "a"]), "i")
        try await bench.add(WireDictionary(["Class": "generic-password", "Account": "a"]), "g")
        #expect(try bench.secrets(WireDictionary(["Class": "internet-password", "Account": "a"])) == ["i"])
        #expect(try bench.secrets(WireDictionary(["Class": "generic-password", "Account": "a"])) == ["g"])
    }

    @VaultActor @Test(arguments: ["A", "á", "a\u{301}", "a ", ""])
    func matchingIsExactOnBytes(account: String) async throws {
        try await bench.add(.item("a"))
        #expect(await refusal { () throws(Refusal) in _ = try bench.read(.query(account)) } == .itemNotFound)
    }

    @VaultActor @Test func textAndBytesOfTheSameContentAreOneValueAndComeBackAsGiven() async throws {
        let asBytes = try WireDictionary(
            ["Class": "generic-password", "Service": "s", "Account": .bytes(Array("a".utf8))])
        try await bench.add(asBytes, "x")
        #expect(try bench.read(.query("a")).attributes.attributes[.account] == .bytes(Array("a".utf8)))
        #expect(await refusal { () throws(Refusal) in try await bench.add(.item("a")) } == .duplicateItem)
    }

    @VaultActor @Test func anAttributeThatIsEmptyDiffersFromOneThatIsAbsentWhereItIsNoPrimaryKey()
        async throws
    {
        try await bench.add(.item("1").adding("Label", ""))
        try await bench.add(.item("2").adding("Label", "l"))
        try await bench.add(.item("3"))
        #expect(try bench.accounts(.query(nil).adding("Label", "")) == ["1"])
        #expect(try bench.accounts(.query(nil)) == ["1", "2", "3"])
    }

    /// B001 to B013: what other stores lost.
    @VaultActor
    @Test(arguments: [
        [], [0], [0x7f, 0x80, 0x81, 0xff], [0x61, 0, 0x62, 0], Array("\\u0142u\\u017c".utf8),
        Array("  pa ss\t  ".utf8), Array("-----BEGIN\n\n\r\n\n\n".utf8),
        Array(repeating: 0xa5, count: 65_537),
    ])
    func aSecretComesBackByteForByte(bytes: [UInt8]) async throws {
        let grant = Who.one
        _ = try await bench.vault.add(
            { () throws(Refusal) in grant.grant() }, NewItem(.item(), for: .add, now: bench.clock),
            IncomingSecret(SharedSecret(bytes)))
        bench.restart()
        #expect(try bench.read(.query()).secret.bytes == bytes)
    }

    @VaultActor @Test func aSecretOfOneMebibyteComesBack() async throws {
        let secret = String(repeating: "m", count: 1 << 20)
        try await bench.add(.item(), secret)
        #expect(try bench.secret(.query()) == secret)
    }

    @VaultActor @Test func aClassThatTheGroupDoesNotTakeIsRefused() async throws {
        var rules = GroupRules()
        rules.accessible = [.afterFirstUnlock]
        let who = Who(rules: ["g1": rules])
        let foreground = try WireDictionary.item(accessible: .whenUnlocked)
        #expect(await refusal { () throws(Refusal) in try await bench.add(foreground, as: who) } == .param)
        try await bench.add(.item(accessible: nil), as: who)
        #expect(try bench.read(.query()).attributes.protection == .accessible(.afterFirstUnlock))
    }

    @VaultActor @Test func theDefaultClassIsWhenUnlocked() async throws {
        try await bench.add(.item(accessible: nil))
        #expect(try bench.read(.query()).attributes.protection == .accessible(.whenUnlocked))
    }

    @VaultActor @Test func thePasscodeSetClassNeedsAPasscode() async throws {
        let item = try WireDictionary.item(accessible: .whenPasscodeSetThisDeviceOnly)
        #expect(await refusal { () throws(Refusal) in try await bench.add(item) } == .notAvailable)
        try await bench.setPasscode("1234")
        try await bench.add(item, "x")
        #expect(try bench.secret(.query()) == "x")
    }

    @VaultActor @Test func anAdditionIsToldAfterItsCommit() async throws {
        let stored = try await bench.add(.item())
        #expect(
            bench.notices == [
                .itemChanged(
                    group: "g1", reference: stored.reference, change: .added, revision: stored.revision,
                    side: .background, previousSide: .background)
            ])
    }
}
