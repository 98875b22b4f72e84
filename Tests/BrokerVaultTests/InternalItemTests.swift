import BrokerModel
import Sodium
import Testing

@testable import BrokerVault

/// Items that came by `org.freedesktop.secrets`: added, looked up, read, changed, deleted.
@Suite struct InternalItemTests {
    let bench: Bench

    init() async throws { bench = try await Bench() }

    private let three = ["server": "example.org", "user": "me", "xdg:schema": "org.example.Password"]

    @VaultActor @Test func anItemIsThereWithAllOfIt() async throws {
        let stored = try await bench.keep("Mail", three, secret: "s3cret")
        #expect(stored.created)
        for bench in [bench] {
            let item = try bench.kept(stored.reference)
            #expect(item.secret.text == "s3cret")
            #expect(item.attributes.label == "Mail" && item.attributes.attributes.lookup.dictionary == three)
            #expect(item.attributes.attributes[.contentType] == .text(Array("text/plain".utf8)))
            #expect(SecretCollection.ID(attribute: item.attributes.attributes[.collection]) == .login)
            #expect(item.attributes.protection == .accessible(.afterFirstUnlockThisDeviceOnly))
            #expect(!item.attributes.synchronizable && item.attributes.accessGroup == "g1")
            #expect(item.attributes.created == bench.clock && item.attributes.modified == bench.clock)
            bench.restart()
        }
        #expect(try bench.keptSecret(stored.reference) == "s3cret")
        #expect(try bench.found(three) == ["Mail"])
    }

    @VaultActor @Test func itIsFoundByEverySubsetOfItsAttributes() async throws {
        try await bench.keep(
            "other", ["server": "example.org", "user": "you", "xdg:schema": "org.example.Other"])
        try await bench.keep("it", three)
        try await bench.keep("bare")
        let pairs = three.sorted { $0.key < $1.key }
        for subset in 0..<(1 << pairs.count) {
            let chosen = pairs.enumerated().filter { subset & 1 << $0.offset != 0 }.map(\.element)
            let filter = Dictionary(uniqueKeysWithValues: chosen)
            let all = try bench.found(filter)
            #expect(all.contains("it"), "\(filter)")
            #expect(all.contains("other") == (filter.keys.allSatisfy { $0 == "server" }), "\(filter)")
            #expect(all.contains("bare") == filter.isEmpty, "\(filter)")
            for name in filter.keys {
                var wrong = filter
                wrong[name] = "wrong"
                #expect(try bench.found(wrong) == [], "\(wrong)")
            }
            var more = filter
            more["absent"] = ""
            #expect(try bench.found(more) == [], "\(more)")
        }
    }

    /// Byte for byte: no case, no blank, no form of a letter is passed over, and a name is no value.
    @VaultActor
    @Test(arguments: [
        ["Server": "example.org"], ["server": "Example.org"], ["server": "example.org "],
        ["server ": "example.org"],
        ["server": "example.or"], ["server": ""], ["example.org": "server"], ["serve": "rexample.org"],
    ])
    func namesAndValuesAreExact(filter: [String: String]) async throws {
        try await bench.keep("it", ["server": "example.org"])
        #expect(try bench.found(filter) == [])
    }

    @VaultActor @Test func lettersThatOnlyLookAlikeAreOthers() async throws {
        try await bench.keep("one", ["caf\u{e9}": "x", "drink": "caf\u{e9}"])
        try await bench.keep("two", ["cafe\u{301}": "x", "drink": "cafe\u{301}"])
        #expect(try bench.found(["caf\u{e9}": "x"]) == ["one"])
        #expect(try bench.found(["cafe\u{301}": "x"]) == ["two"])
        #expect(try bench.found(["drink": "cafe\u{301}"]) == ["two"])
    }

    /// Names and values of the index that are written one behind the other are not taken for others.
    @VaultActor @Test func anEmptyNameOrValueIsOneToo() async throws {
        try await bench.keep("1", ["": ""])
        try await bench.keep("2", ["a": ""])
        try await bench.keep("3", ["": "a"])
        try await bench.keep("4", [:])
        #expect(try bench.found(["": ""]) == ["1"])
        #expect(try bench.found(["a": ""]) == ["2"])
        #expect(try bench.found(["": "a"]) == ["3"])
        #expect(try bench.found() == ["1", "2", "3", "4"])
    }

    /// One look at the index takes so many attributes; the item is held against the rest.
    @VaultActor @Test func moreAttributesThanTheIndexLooksAt() async throws {
        func attributes(_ last: String) -> [String: String] {
            var attributes: [String: String] = [:]
            for number in 0..<IndexTable.tokensMax * 2 { attributes["a\(100 + number)"] = "v" }
            attributes["z"] = last
            return attributes
        }
        try await bench.keep("1", attributes("1"))
        try await bench.keep("2", attributes("2"))
        #expect(try bench.found(attributes("2")) == ["2"])
        #expect(try bench.found(attributes("2"), in: .login) == ["2"])
        #expect(try bench.found(["z": "1"]) == ["1"])
        // That another has what the index was asked for is no damage.
        #expect(try bench.found(attributes("3")) == [])
        let third = try await bench.keep("3", attributes("3"), replacing: true)
        #expect(third.created)
        #expect(try await bench.keep("4", attributes("3"), replacing: true).reference == third.reference)
        #expect(try bench.found(attributes("3")) == ["4"])
    }

    @VaultActor @Test func anItemOfAThousandAttributesIsFoundByEach() async throws {
        var attributes: [String: String] = [:]
        for number in 0..<Limits.lookupAttributesMax { attributes["name\(number)"] = "value\(number)" }
        let stored = try await bench.keep("it", attributes)
        for number in [0, 511, 1023] {
            #expect(try bench.found(["name\(number)": "value\(number)"]) == ["it"])
        }
        attributes["name511"] = "changed"
        try await bench.rework(stored.reference, attributes)
        #expect(try bench.found(["name511": "changed", "name0": "value0"]) == ["it"])
        #expect(try bench.found(["name511": "value511"]) == [])
        #expect(try bench.number("SELECT count(*) FROM tokens") == 1 + 1 + 1024)
        attributes["one more"] = ""
        let met = await refusal { () throws(Refusal) in try await bench.rework(stored.reference, attributes) }
        #expect(met == .tooLarge)
    }

    /// The rarest of a filter's attributes leads, wherever its name stands among them.
    @VaultActor @Test func amongManyTheOneIsFoundByWhatItAloneHas() async throws {
        for number in 0..<300 {
            try await bench.keep("\(number)", ["a": "common", "m": "\(number)", "z": "common"])
        }
        #expect(try bench.found(["a": "common", "m": "217", "z": "common"]) == ["217"])
        #expect(try bench.found(["a": "common", "z": "common"]).count == 300)
        #expect(try bench.found(["a": "common", "z": "rare"]) == [])
    }

    /// The name that led the last search leads the next; where it leads to many, or to an item without the others, all that
    /// have the attributes are found nonetheless.
    @VaultActor @Test func whatLedTheLastSearchMayMislead() async throws {
        for number in 0..<20 {
            try await bench.keep("a\(number)", ["m": "\(number)", "z": "common"])
            try await bench.keep("b\(number)", ["m": "common", "z": "\(number)"])
        }
        try await bench.keep("odd", ["m": "3", "z": "odd"])
        for number in 0..<20 {
            #expect(try bench.found(["m": "\(number)", "z": "common"]) == ["a\(number)"])
            #expect(try bench.found(["m": "common", "z": "\(number)"]) == ["b\(number)"])
        }
        #expect(try bench.found(["m": "3", "z": "odd"]) == ["odd"])
        #expect(try bench.found(["m": "3", "z": "0"]) == [])
        #expect(try bench.found(["m": "common", "z": "common"]) == [])
        #expect(try bench.found(["m": "3"]) == ["a3", "odd"])
    }

    @VaultActor @Test func theSameAttributesInTwoGroupsAreTwoItems() async throws {
        let mine = try await bench.keep("mine", three, secret: "1")
        let theirs = try await bench.keep("theirs", three, secret: "2", replacing: true, as: .two)
        #expect(theirs.created && theirs.reference != mine.reference)
        #expect(try bench.found(three) == ["mine"] && bench.found(three, as: .two) == ["theirs"])
        #expect(try bench.found(three, as: .both) == ["mine", "theirs"])
        #expect(try bench.keptSecret(mine.reference) == "1")
        let met = await refusal { () throws(Refusal) in _ = try bench.keptSecret(theirs.reference) }
        #expect(met == .itemNotFound)
        let changed = await refusal { () throws(Refusal) in
            try await bench.rework(theirs.reference, secret: "stolen")
        }
        #expect(changed == .itemNotFound)
        #expect(
            await refusal { () throws(Refusal) in try await bench.drop(theirs.reference) } == .itemNotFound)
        #expect(try bench.keptSecret(theirs.reference, as: .two) == "2")
    }

    @VaultActor @Test func theSameAttributesInTwoCollectionsAreTwoItems() async throws {
        let work = try await bench.collect("Work")
        try await bench.keep("in login", three)
        let stored = try await bench.keep("in work", three, in: .made(work), replacing: true)
        #expect(stored.created)
        #expect(try bench.found(three, in: .login) == ["in login"])
        #expect(try bench.found(three, in: .made(work)) == ["in work"])
        #expect(try bench.found(in: .made(work)) == ["in work"])
        #expect(try bench.found(three) == ["in login", "in work"])
        #expect(try bench.collections() == ["Work"] && bench.collections(as: .two) == [])
    }

    /// `replace` takes an item whose attributes are equal, no more and no less.
    @VaultActor @Test func replacingTakesAnEqualItemAndNoOther() async throws {
        let stored = try await bench.keep("it", three, secret: "1")
        var (fewer, more) = (three, three)
        fewer["user"] = nil
        more["port"] = "25"
        for other in [fewer, more, [:]] {
            #expect(try await bench.keep("other", other, replacing: true).created, "\(other)")
        }
        bench.clock += 5_000_000
        let again = try await bench.keep("it anew", three, secret: "2", replacing: true)
        #expect(!again.created && again.reference == stored.reference && again.revision > stored.revision)
        let item = try bench.kept(stored.reference)
        #expect(item.secret.text == "2" && item.attributes.label == "it anew")
        #expect(item.attributes.created == bench.clock - 5_000_000 && item.attributes.modified == bench.clock)
        #expect(try bench.found().count == 4)
        #expect(try await bench.keep("two", three).created)
        #expect(try bench.found().count == 5)
        let bare = try await bench.keep("bare", [:], replacing: true)
        #expect(!bare.created)
    }

    @VaultActor @Test func ofSeveralEqualItemsTheOneThatWasChangedLastIsReplaced() async throws {
        let first = try await bench.keep("1", three)
        let second = try await bench.keep("2", three)
        // Of one moment: the one that was added last.
        #expect(try await bench.keep("2'", three, replacing: true).reference == second.reference)
        bench.clock += 1_000_000
        try await bench.rework(first.reference, label: "1'")
        #expect(try await bench.keep("1''", three, replacing: true).reference == first.reference)
        #expect(try bench.found() == ["1''", "2'"])
    }

    @VaultActor @Test func aReplacedItemKeepsItsGroup() async throws {
        let theirs = try await bench.keep("theirs", three, as: .two)
        let everybody = Who(groups: ["g1", "g2"])
        let again = try await bench.keep("changed", three, replacing: true, as: everybody)
        #expect(again.reference == theirs.reference)
        #expect(try bench.found(as: .two) == ["changed"] && bench.found() == [])
    }

    @VaultActor @Test func aChangeMovesTheItemInTheIndex() async throws {
        let stored = try await bench.keep("it", three, secret: "1")
        try await bench.rework(stored.reference, ["server": "example.net", "user": "me"])
        #expect(try bench.found(["server": "example.org"]) == [] && bench.found(["xdg:schema": "x"]) == [])
        #expect(try bench.found(["server": "example.net"]) == ["it"] && bench.found(["user": "me"]) == ["it"])
        #expect(try bench.keptSecret(stored.reference) == "1")
        try await bench.rework(stored.reference, label: "renamed", secret: "2")
        #expect(try bench.found(["user": "me"]) == ["renamed"] && bench.keptSecret(stored.reference) == "2")
        try await bench.rework(stored.reference, [:])
        #expect(try bench.found() == ["renamed"] && bench.found(["user": "me"]) == [])
        // Its class in its group, its collection.
        #expect(try bench.number("SELECT count(*) FROM tokens") == 2)
        #expect(try bench.number("SELECT count(*) FROM primary_keys") == 1)
    }

    @VaultActor @Test func nothingIsLeftOfADeletedItem() async throws {
        let stored = try await bench.keep("it", three)
        let kept = try await bench.keep("kept", three)
        try await bench.drop(stored.reference)
        #expect(bench.vault.needsCheckpoint)
        #expect(try bench.found(three) == ["kept"])
        #expect(await refusal { () throws(Refusal) in _ = try bench.kept(stored.reference) } == .itemNotFound)
        #expect(
            await refusal { () throws(Refusal) in try await bench.drop(stored.reference) } == .itemNotFound)
        let met = await refusal { () throws(Refusal) in try await bench.rework(stored.reference, label: "x") }
        #expect(met == .itemNotFound)
        try await bench.drop(stored.reference, kept.reference)
        for table in ["tokens", "primary_keys", "background_items", "foreground_items", "tombstones"] {
            #expect(try bench.number("SELECT count(*) FROM \(table)") == 0, "\(table)")
        }
    }

    /// A collection goes with its items, in one step.
    @VaultActor @Test func aCollectionIsDeletedWithItsItems() async throws {
        let (work, home) = (try await bench.collect("Work"), try await bench.collect("Home"))
        for number in 1...3 { try await bench.keep("\(number)", three, in: .made(work)) }
        try await bench.keep("stays", three, in: .made(home))
        var items = AttributeSet()
        items[.collection] = SecretCollection.ID.made(work).attribute
        let queries = [
            Query(internal: .secretServiceCollection, reference: work),
            Query(internal: .secretServiceItem, items),
        ]
        try await bench.vault.deleteInternal({ () throws(Refusal) in Who.one.grant() }, queries)
        #expect(try bench.collections() == ["Home"] && bench.found() == ["stays"])
    }

    @VaultActor @Test func anItemIsOfItsOwnClassAlone() async throws {
        let work = try await bench.collect("Work")
        let stored = try await bench.keep("it")
        for (reference, itemClass) in [
            (work, ItemClass.secretServiceItem), (stored.reference, .secretServiceCollection),
        ] {
            #expect(
                await refusal { () throws(Refusal) in _ = try bench.kept(reference, of: itemClass) }
                    == .itemNotFound)
            let met = await refusal { () throws(Refusal) in
                try await bench.vault.updateInternal(
                    { () throws(Refusal) in Who.one.grant() }, itemClass, reference, AttributeSet())
            }
            #expect(met == .itemNotFound)
        }
    }

    @VaultActor @Test func aChangeMustBeOfAttributesOfTheClassAndNotTooLarge() async throws {
        let stored = try await bench.keep("it", three, secret: "1")
        for key in [AttributeKey.account, .aliases, .generic] {
            var attributes = AttributeSet()
            attributes[key] = .bytes([1])
            let met = await refusal { () throws(Refusal) in
                try await bench.vault.updateInternal(
                    { () throws(Refusal) in Who.one.grant() }, .secretServiceItem, stored.reference,
                    attributes)
            }
            #expect(met == .noSuchAttribute, "\(key)")
        }
        let half = String(repeating: "l", count: 200 << 10)
        try await bench.rework(stored.reference, label: half)
        // Neither is too large alone.
        let met = await refusal { () throws(Refusal) in
            try await bench.rework(stored.reference, ["a": String(repeating: "v", count: 100 << 10)])
        }
        #expect(met == .tooLarge)
        #expect(try bench.found(three) == [half] && bench.keptSecret(stored.reference) == "1")
    }
}
