import BrokerModel
import Testing

@Suite struct NounTests {
    @Test func anAttributeSetHoldsEachKeyOnceInOrder() {
        var set = AttributeSet()
        let keys = AttributeKey.allCases.shuffled()
        for key in keys { set[key] = .number(UInt32(key.rawValue)) }
        for key in keys { set[key] = .number(UInt32(key.rawValue) + 100) }
        #expect(set.pairs.map(\.key) == AttributeKey.allCases.sorted())
        #expect(set.pairs.allSatisfy { $0.value == .number(UInt32($0.key.rawValue) + 100) })
        set[.account] = nil
        set[.account] = nil
        #expect(set[.account] == nil && set.pairs.count == AttributeKey.allCases.count - 1)
    }

    @Test func anAttributeSetCountsTheBytesOfItsValues() {
        var set = AttributeSet()
        set[.account] = .text([1, 2, 3])
        set[.generic] = .bytes([])
        set[.creator] = .number(9)
        set[.invisible] = .flag(true)
        #expect(set.byteCount == 3 + 0 + 4 + 4)
    }

    @Test func anEmptyFilterIsMetByAnOmittedPrimaryKeyAttributeAndByNoOther() {
        var item = AttributeSet()
        item[.service] = .text([1])
        func contains(_ key: AttributeKey, _ value: AttributeValue, _ itemClass: ItemClass) -> Bool {
            var filter = AttributeSet()
            filter[key] = value
            return item.contains(filter, of: itemClass)
        }
        #expect(
            contains(.account, .bytes([]), .genericPassword)
                && contains(.service, .bytes([1]), .genericPassword))
        #expect(!contains(.service, .bytes([]), .genericPassword))
        #expect(!contains(.label, .bytes([]), .genericPassword))
        #expect(
            contains(.port, .number(0), .internetPassword) && !contains(.port, .number(1), .internetPassword))
        #expect(item.contains(AttributeSet(), of: .genericPassword))
    }

    @Test func textAndBytesMatchByTheirBytesAndOtherKindsByThemselves() {
        #expect(AttributeValue.text([1]).matches(.bytes([1])) && AttributeValue.bytes([]).matches(.text([])))
        #expect(
            !AttributeValue.text([1]).matches(.bytes([1, 0]))
                && !AttributeValue.number(1).matches(.flag(true)))
        #expect(
            !AttributeValue.number(0).matches(.bytes([])) && !AttributeValue.flag(false).matches(.number(0)))
        #expect(
            AttributeValue.number(7).matches(.number(7)) && AttributeValue.flag(true).matches(.flag(true)))
    }

    @Test func aReferenceIsItsTextAndBack() throws {
        let bytes = [UInt8](stride(from: 0, to: 256, by: 16).map { UInt8($0 + 9) })
        let reference = try #require(Reference(bytes: bytes))
        #expect(reference.description.count == 32)
        #expect(Reference(text: reference.description) == reference)
        #expect(Reference(bytes: Array(bytes.dropLast())) == nil && Reference(bytes: bytes + [0]) == nil)
        for text in [
            "", "A" + reference.description.dropFirst(), reference.description + "0",
            "0x" + reference.description.dropFirst(2),
        ] {
            #expect(Reference(text: text) == nil, "\(text)")
        }
    }

    @Test(arguments: ["a", "org.example.mail", "~!@#$%^&*()", String(repeating: "g", count: 255)])
    func aGroupHasAName(name: String) { #expect(AccessGroup(name)?.name == name) }

    @Test(arguments: ["", " ", "a b", "a\n", "a\u{0}", "ä", "a\u{7f}", String(repeating: "g", count: 256)])
    func whatIsNoName(name: String) { #expect(AccessGroup(name) == nil) }

    @Test func theFourFamiliesAreReserved() {
        for prefix in ["app.", "flatpak.", "snap.", "exe."] {
            #expect(AccessGroup(prefix + "x")?.isReserved == true)
        }
        for name in ["application.x", "app", "my.app.x", "App.x"] {
            #expect(AccessGroup(name)?.isReserved == false)
        }
    }

    @Test func wordsAndNumbersThatAreStoredOrSpokenStay() {
        #expect(Accessibility.allCases.map(\.rawValue) == [1, 2, 3, 4, 5])
        #expect(ItemClass.allCases.map(\.rawValue) == [1, 2, 3, 4, 5])
        #expect(AttributeKey.allCases.map(\.rawValue) == Array(1...22))
        #expect(AccessControl.Flag.allCases.map(\.rawValue) == Array(0...7))
        #expect(Accessibility.Side.allCases.map(\.rawValue) == [1, 2])
        for accessibility in Accessibility.allCases {
            #expect(Accessibility(name: accessibility.name) == accessibility)
            #expect(accessibility.isMigratable == !accessibility.name.hasSuffix("this-device-only"))
            #expect((accessibility.side == .background) == accessibility.name.hasPrefix("after-first-unlock"))
        }
        for itemClass in ItemClass.allCases {
            #expect(ItemClass(name: itemClass.name) == (itemClass.isInternal ? nil : itemClass))
        }
    }

    @Test func everyPrimaryKeyAttributeBelongsToItsClass() {
        for itemClass in ItemClass.allCases {
            #expect(itemClass.primaryKey.allSatisfy { $0.belongs(to: itemClass) })
            #expect(Set(itemClass.primaryKey).count == itemClass.primaryKey.count)
            #expect(itemClass.service.map(itemClass.primaryKey.contains) ?? itemClass.isInternal)
        }
        #expect(!AttributeKey.service.belongs(to: .internetPassword))
        #expect(!AttributeKey.server.belongs(to: .genericPassword))
    }

    @Test func aRefusalIsComparedByKindAndRevision() {
        #expect(Refusal(.param, "one") == Refusal(.param, "two"))
        #expect(Refusal(.param, "one") != Refusal(.io, "one"))
        #expect(Refusal.revisionMismatch(current: 1) != Refusal.revisionMismatch(current: 2))
    }

    @Test func everyGroupTakesEveryClassUnlessItsRulesSayOtherwise() {
        var rules = GroupRules()
        #expect(
            Accessibility.allCases.allSatisfy { rules.allows($0) } && rules.defaultAccessible == .whenUnlocked
        )
        rules.accessible = [.afterFirstUnlock, .whenUnlocked]
        #expect(rules.defaultAccessible == .afterFirstUnlock && !rules.allows(.whenUnlockedThisDeviceOnly))
    }
}
