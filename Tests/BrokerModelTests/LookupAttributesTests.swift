import BrokerModel
import Testing

/// What an item of `org.freedesktop.secrets` is looked up by, and its one form in the vault.
@Suite struct LookupAttributesTests {
    private func pair(_ name: String, _ value: String = "") -> LookupAttributes.Pair {
        .init(name: Array(name.utf8), value: Array(value.utf8))
    }

    @Test func theyComeByTheBytesOfTheirNames() {
        let names = ["b", "a", "é", "aa", "Z", "", "a b", "\u{10FFFF}"]
        let attributes = LookupAttributes(names.map { pair($0, "of " + $0) })
        #expect(
            attributes.pairs.map { String(decoding: $0.name, as: UTF8.self) }
                == ["", "Z", "a", "a b", "aa", "b", "é", "\u{10FFFF}"])
        #expect(attributes.pairs.allSatisfy { $0.value == Array("of ".utf8) + $0.name })
        #expect(LookupAttributes(names.reversed().map { pair($0, "of " + $0) }) == attributes)
    }

    @Test func ofTwoWithOneNameTheLaterStands() {
        let attributes = LookupAttributes([pair("a", "1"), pair("b", "2"), pair("a", "3")])
        #expect(attributes.pairs == [pair("a", "3"), pair("b", "2")])
    }

    /// The same letter, written as one and as two: a `String` takes them for one, a program does not.
    @Test func namesThatOnlyLookAlikeAreTwo() {
        let attributes = LookupAttributes([pair("\u{e9}", "one"), pair("e\u{301}", "two")])
        #expect(attributes.pairs.count == 2)
        #expect(attributes.contains(LookupAttributes([pair("\u{e9}", "one")])))
        #expect(!attributes.contains(LookupAttributes([pair("\u{e9}", "two")])))
        #expect(LookupAttributes(encoded: attributes.encoded) == attributes)
    }

    @Test func theFormIsTheDocumentedOne() {
        let attributes = LookupAttributes(["b": "", "a": "xy"])
        #expect(
            attributes.encoded
                == [0, 0, 0, 1, 0x61, 0, 0, 0, 2, 0x78, 0x79, 0, 0, 0, 1, 0x62, 0, 0, 0, 0])
        #expect(LookupAttributes().encoded.isEmpty)
    }

    @Test(arguments: [
        [:], ["": ""], ["a": ""], ["": "v"], ["xdg:schema": "org.example.Password", "account": "me"],
        ["ä\u{1F511}": "\u{1}\n\t"], ["long": String(repeating: "x", count: 70_000)],
    ])
    func theFormGivesBackWhatWentIn(dictionary: [String: String]) throws {
        let attributes = LookupAttributes(dictionary)
        let back = try #require(LookupAttributes(encoded: attributes.encoded))
        #expect(back == attributes && back.dictionary == dictionary)
        #expect(back.encoded == attributes.encoded)
    }

    /// There is one form of each set of attributes, so that nothing else is one.
    @Test(arguments: [
        ([0], "a length that is cut"), ([0, 0, 0], "likewise"), ([0, 0, 0, 1], "a name that is not there"),
        ([0, 0, 0, 1, 0x61], "no value"), ([0, 0, 0, 1, 0x61, 0, 0, 0], "the value's length is cut"),
        ([0, 0, 0, 1, 0x61, 0, 0, 0, 1], "the value is not there"),
        ([0, 0, 0, 1, 0x61, 0, 0, 0, 0, 0], "something behind it"),
        ([0xff, 0xff, 0xff, 0xff, 0x61], "a length beyond everything"),
        ([0, 0, 0, 2, 0x61, 0, 0, 0, 0], "a length beyond the end"),
        (name(0x62) + name(0x61), "names that descend"), (name(0x61) + name(0x61), "a name twice"),
        (name(0x61, 0x62) + name(0x61), "a name before its beginning"),
        ([0, 0, 0, 1, 0x80, 0, 0, 0, 0], "a name that is no text"),
        ([0, 0, 0, 2, 0xc0, 0x80, 0, 0, 0, 0], "a name in a form of UTF-8 that is too long"),
        ([0, 0, 0, 1, 0x61, 0, 0, 0, 1, 0xff], "a value that is no text"),
        ([0, 0, 0, 1, 0, 0, 0, 0, 0], "a NUL in a name"),
        ([0, 0, 0, 1, 0x61, 0, 0, 0, 1, 0], "a NUL in a value"),
    ])
    func nothingElseIsAForm(bytes: [UInt8], why: String) {
        #expect(LookupAttributes(encoded: bytes) == nil, "\(why)")
    }

    private static func name(_ bytes: UInt8...) -> [UInt8] {
        [0, 0, 0, UInt8(bytes.count)] + bytes + [0, 0, 0, 0]
    }

    @Test func everyFormThatIsCutShortIsNone() {
        let whole = LookupAttributes(["account": "me", "server": "example.org"]).encoded
        let ends = (0..<whole.count).filter { LookupAttributes(encoded: Array(whole[..<$0])) != nil }
        // Where the first pair ends is the form of that pair alone.
        #expect(ends == [0, 4 + 7 + 4 + 2])
    }

    @Test func aFilterIsMetByEveryPairOfItAndByNoLess() {
        let item = LookupAttributes(["a": "1", "b": "2", "c": "3"])
        for filter in [[:], ["a": "1"], ["b": "2", "c": "3"], ["a": "1", "b": "2", "c": "3"]] {
            #expect(item.contains(LookupAttributes(filter)), "\(filter)")
        }
        for filter in [
            ["a": "2"], ["A": "1"], ["a": "1 "], ["d": ""], ["a": "1", "d": ""], ["a": ""], ["": ""],
        ] {
            #expect(!item.contains(LookupAttributes(filter)), "\(filter)")
        }
        #expect(!LookupAttributes().contains(item))
    }

    @Test func aSetOfAttributesHoldsThem() {
        var (set, filter) = (AttributeSet(), AttributeSet())
        set.lookup = LookupAttributes(["a": "1", "b": "2"])
        #expect(set.lookup.dictionary == ["a": "1", "b": "2"] && set.byteCount == set.lookup.encoded.count)
        filter.lookup = LookupAttributes(["b": "2"])
        #expect(set.contains(filter, of: .secretServiceItem))
        filter.lookup = LookupAttributes(["b": "1"])
        #expect(!set.contains(filter, of: .secretServiceItem))
        filter.lookup = LookupAttributes()
        #expect(set.contains(filter, of: .secretServiceItem))
    }

    /// What is no form asks for nothing that there is, and not for everything.
    @Test func aFilterThatIsNoFormIsMetByNothing() {
        var (set, filter) = (AttributeSet(), AttributeSet())
        set.lookup = LookupAttributes(["a": "1"])
        for value in [AttributeValue.bytes([1]), .text(Self.name(0x62) + Self.name(0x61))] {
            filter[.lookup] = value
            #expect(!set.contains(filter, of: .secretServiceItem))
        }
    }

    @Test func anItemHasSoManyAndNoMore() throws {
        func item(_ count: Int) throws(Refusal) {
            var set = AttributeSet()
            set.lookup = LookupAttributes((0..<count).map { pair("\($0)") })
            _ = try InternalItem(.secretServiceItem, set)
        }
        try item(Limits.lookupAttributesMax)
        #expect(throws: Refusal.self) { try item(Limits.lookupAttributesMax + 1) }
    }

    @Test func anItemOfAnInternalClassHasTheAttributesOfItsClassAlone() throws {
        for itemClass in ItemClass.allCases {
            for key in AttributeKey.allCases {
                var set = AttributeSet()
                set[key] = .bytes([])
                let isTaken = (try? InternalItem(itemClass, set)) != nil
                #expect(isTaken == key.belongs(to: itemClass), "\(key) \(itemClass)")
                let isShared = key == .label
                #expect(isShared || !isTaken || key.isInternal == itemClass.isInternal, "\(key) \(itemClass)")
            }
        }
    }

    @Test func noWordOnTheBusNamesAnInternalClassOrAttribute() {
        for itemClass in ItemClass.allCases {
            let met = refusal { () throws(Refusal) in
                _ = try Query(WireDictionary([("Class", .text(Array(itemClass.name.utf8)))]), for: .read)
            }
            #expect(met == (itemClass.isInternal ? .noSuchClass : nil), "\(itemClass)")
        }
        for key in AttributeKey.allCases where key.isInternal {
            let met = refusal { () throws(Refusal) in
                _ = try Query(WireDictionary([("Class", "generic-password"), (key.name, "a")]), for: .read)
            }
            #expect(met == .noSuchAttribute, "\(key)")
        }
    }
}
