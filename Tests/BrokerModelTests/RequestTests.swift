import BrokerModel
import Testing

/// What a request may hold, one row a rule (INTERFACE, attributes and queries; SEMANTICS, rulings).
@Suite struct RequestTests {
    private static let now: UInt64 = 1_000

    // What no request may hold, whatever it is.
    private static let never: [Row] = [
        Row(["Unknown": "x"], .noSuchAttribute), Row(["service": "x"], .noSuchAttribute),
        Row(["Secret": .aSecret], .noSuchAttribute), Row(["": "x"], .noSuchAttribute),
        Row(["Service": .number(1)], .param), Row(["Service": true], .param),
        Row(["Service": .other], .param),
        Row(["Service": .aSecret], .param), Row(["Creator": "x"], .param), Row(["Creator": .time(1)], .param),
        Row(["Invisible": .number(1)], .param), Row(["Negative": "true"], .param),
        Row(["Server": "h"], .noSuchAttribute), Row(["Port": .number(1)], .noSuchAttribute),
        Row(["Accessible": "sometimes"], .param), Row(["Accessible": .number(1)], .param),
        Row(["Accessible": "always"], .param), Row(["Accessible": "always-this-device-only"], .param),
        Row(["Accessible": "When-Unlocked"], .param), Row(["AccessControl": "when-unlocked"], .param),
        Row(["AccessControl": .control("always", "user-presence")], .param),
        Row(["AccessControl": .control("when-unlocked", "unknown")], .param),
        Row(["AccessControl": .control("when-unlocked", "or", "or")], .param),
        Row(["Synchronizable": "yes"], .param), Row(["Synchronizable": .number(1)], .param),
        Row(["AccessGroup": .number(1)], .param), Row(["AccessGroup": ""], .missingEntitlement),
        Row(["AccessGroup": "two words"], .missingEntitlement),
        Row(["Expires": .number(1)], .param), Row(["Expires": .time(.max)], .param),
        Row(["FreshUntil": "soon"], .param), Row(["ApplicationPassword": "x"], .param),
        Row(["Label": "l", "Label": "l"], .param), Row(["IfRevision": .number(1)], .param),
    ]

    private static let generic: [(String, Value)] = [("Class", "generic-password")]

    @Test(arguments: never) func noRequestTakesIt(row: Row) {
        let entries = Self.generic + row.entries
        for purpose in [NewItem.Purpose.add, .store] {
            #expect(
                refusal { () throws(Refusal) in
                    _ = try NewItem(WireDictionary(entries), for: purpose, now: Self.now)
                } == row.expected)
        }
        for purpose in [Query.Purpose.read, .list, .update, .delete] {
            #expect(
                refusal { () throws(Refusal) in _ = try Query(WireDictionary(entries), for: purpose) }
                    == row.expected)
        }
        // Of changes it is not known yet which class they are for.
        guard row.expected != .noSuchAttribute || row.entries[0].0 == "Unknown" else { return }
        #expect(
            refusal { () throws(Refusal) in
                _ = try Changes(WireDictionary(row.entries), now: Self.now)
            } != nil)
    }

    @Test(arguments: [
        Row([:], .param), Row(["Service": "s"], .param), Row(["Class": "certificate"], .noSuchClass),
        Row(["Class": "key"], .noSuchClass), Row(["Class": "identity"], .noSuchClass),
        Row(["Class": "Generic-Password"], .noSuchClass), Row(["Class": .number(1)], .param),
    ])
    func aClassIsNeededAndMustBeOne(row: Row) {
        #expect(
            refusal { () throws(Refusal) in
                _ = try NewItem(WireDictionary(row.entries), for: .add, now: Self.now)
            } == row.expected)
        #expect(
            refusal { () throws(Refusal) in _ = try Query(WireDictionary(row.entries), for: .read) }
                == row.expected)
    }

    @Test(arguments: [
        Row([:], nil), Row(["Service": "s", "Account": .bytes([0, 255]), "Label": ""], nil),
        Row(["Creator": .number(0), "Type": .number(.max), "Invisible": true, "Negative": false], nil),
        Row(["AccessGroup": "any.group"], nil), Row(["Expires": .time(1_001)], nil),
        Row(["Expires": .time(1_000)], .param), Row(["Expires": .time(0)], .param),
        Row(["FreshUntil": .time(0)], nil), Row(["Synchronizable": true], nil),
        Row(["Synchronizable": "any"], .param),
        Row(["Synchronizable": true, "Accessible": "when-unlocked"], nil),
        Row(["Synchronizable": true, "Accessible": "when-unlocked-this-device-only"], .param),
        Row(["Synchronizable": true, "Accessible": "when-passcode-set-this-device-only"], .param),
        Row(["Synchronizable": true, "Accessible": "after-first-unlock-this-device-only"], .param),
        Row(["Synchronizable": true, "AccessControl": .control("when-unlocked", "user-presence")], .param),
        Row(["Synchronizable": true, "AccessControl": .control("when-unlocked")], nil),
        Row(["Accessible": "when-unlocked", "AccessControl": .control("when-unlocked")], .param),
        Row(["AccessControl": .control("after-first-unlock", "application-password")], nil),
        Row(["Reference": "00000000000000000000000000000000"], .param), Row(["Revision": .time(1)], .param),
        Row(["Created": .time(1)], .param), Row(["Modified": .time(1)], .param),
        Row(["Limit": .number(1)], .param), Row(["SkipGated": true], .param),
        Row(["ApplicationPassword": .aSecret], nil),
    ])
    func anItemTakesOrRefuses(row: Row) {
        for purpose in [NewItem.Purpose.add, .store] {
            #expect(
                refusal { () throws(Refusal) in
                    _ = try NewItem(WireDictionary(Self.generic + row.entries), for: purpose, now: Self.now)
                } == row.expected)
        }
    }

    @Test func aRevisionBelongsToStoreAndNotToAdd() throws {
        let entries = Self.generic + [("IfRevision", .time(0))]
        #expect(
            refusal { () throws(Refusal) in _ = try NewItem(WireDictionary(entries), for: .add, now: 0) }
                == .param)
        #expect(try NewItem(WireDictionary(entries), for: .store, now: 0).ifRevision == 0)
    }

    private static let reference: Value = "0123456789abcdef0123456789abcdef"

    @Test(arguments: [
        Row(["Limit": .number(0)], .param), Row(["Limit": .number(1)], nil), Row(["Limit": .time(1)], .param),
        Row(["SkipGated": true], nil), Row(["SkipGated": "yes"], .param),
        Row(["IfRevision": .time(1)], .param), Row(["ApplicationPassword": .aSecret], nil),
    ])
    func aListTakesOrRefuses(row: Row) {
        #expect(
            refusal { () throws(Refusal) in
                _ = try Query(WireDictionary(Self.generic + row.entries), for: .list)
            } == row.expected)
    }

    @Test(arguments: [
        Row(["Limit": .number(1)], .param), Row(["Limit": .number(0)], .param),
        Row(["SkipGated": false], .param),
    ])
    func limitsBelongToLists(row: Row) {
        for purpose in [Query.Purpose.read, .update, .delete] {
            #expect(
                refusal { () throws(Refusal) in
                    _ = try Query(WireDictionary(Self.generic + row.entries), for: purpose)
                } == .param)
        }
    }

    @Test func aRevisionToCompareStandsInTheQueryOfDeleteAlone() throws {
        let entries = Self.generic + [("IfRevision", .time(4))]
        for purpose in [Query.Purpose.read, .list, .update] {
            #expect(
                refusal { () throws(Refusal) in _ = try Query(WireDictionary(entries), for: purpose) }
                    == .param)
        }
        #expect(try Query(WireDictionary(entries), for: .delete).ifRevision == 4)
    }

    @Test func anApplicationPasswordIsNoneOfDeletesBusiness() {
        let entries = Self.generic + [("ApplicationPassword", .aSecret)]
        #expect(
            refusal { () throws(Refusal) in _ = try Query(WireDictionary(entries), for: .delete) } == .param)
        #expect(
            refusal { () throws(Refusal) in _ = try Query(WireDictionary(entries), for: .read) } == nil)
    }

    @Test(arguments: [
        Row(["Class": "generic-password"], .param), Row(["AccessGroup": "g"], .param),
        Row(["Accessible": "when-unlocked"], .param),
        Row(["AccessControl": .control("when-unlocked")], .param),
        Row(["Synchronizable": "any"], .param), Row(["Account": "a"], .param),
        Row(["Created": .time(1)], .param),
        Row(["Modified": .time(1)], .param), Row(["Expires": .time(1)], .param),
        Row(["FreshUntil": .time(1)], .param), Row(["Revision": .time(1)], .param), Row([:], nil),
        Row(["Limit": .number(1)], nil), Row(["SkipGated": true], nil),
        Row(["ApplicationPassword": .aSecret], nil),
    ])
    func aReferenceStandsAlone(row: Row) {
        let entries = [("Reference", Self.reference)] + row.entries
        #expect(
            refusal { () throws(Refusal) in _ = try Query(WireDictionary(entries), for: .list) }
                == row.expected)
    }

    @Test(arguments: [
        "", "0123", "0123456789ABCDEF0123456789ABCDEF", "0123456789abcdef0123456789abcdefa", "g",
    ])
    func whatIsNoReferenceIsRefused(text: String) {
        #expect(
            refusal { () throws(Refusal) in
                _ = try Query(WireDictionary([("Reference", .text(Array(text.utf8)))]), for: .read)
            } == .param)
    }

    @Test func aQueryMeansLocalItemsUnlessItSaysSomethingElse() throws {
        #expect(try Query(WireDictionary(Self.generic), for: .read).synchronizable == .no)
        for (value, wanted) in [(true, .yes), (false, .no), ("any", .any)] as [(Value, SynchronizableFilter)]
        {
            let entries = Self.generic + [("Synchronizable", value)]
            #expect(try Query(WireDictionary(entries), for: .read).synchronizable == wanted)
        }
        let byReference = try WireDictionary([("Reference", Self.reference)])
        #expect(try Query(byReference, for: .read).synchronizable == .any)
    }

    @Test(arguments: [
        Row(["Class": "generic-password"], .noSuchAttribute), Row(["Unknown": "x"], .noSuchAttribute),
        Row(["AccessControl": .control("when-unlocked")], .param),
        Row(["ApplicationPassword": .aSecret], .param),
        Row(["Reference": reference], .param), Row(["Revision": .time(1)], .param),
        Row(["Created": .time(1)], .param), Row(["Modified": .time(1)], .param),
        Row(["Limit": .number(1)], .param), Row(["SkipGated": true], .param),
        Row(["Synchronizable": "any"], .param), Row(["Expires": .time(1_000)], .param),
        Row(["Expires": .time(1_001)], nil), Row(["FreshUntil": .time(1)], nil), Row([:], nil),
        Row(["Accessible": "after-first-unlock", "AccessGroup": "g", "Synchronizable": true], nil),
        Row(["IfRevision": .time(0), "Server": "h", "Service": "s"], nil),
    ])
    func changesTakeOrRefuse(row: Row) {
        #expect(
            refusal { () throws(Refusal) in _ = try Changes(WireDictionary(row.entries), now: Self.now) }
                == row.expected)
    }

    @Test func limitsAreOfOneValueAndOfAllTogetherAndOfTheirNumber() throws {
        func item(_ values: [(String, Int)]) -> Refusal.Kind? {
            refusal { () throws(Refusal) in
                let entries = values.map { ($0.0, Value.bytes([UInt8](repeating: 1, count: $0.1))) }
                _ = try NewItem(WireDictionary(Self.generic + entries), for: .add, now: 0)
            }
        }
        #expect(item([("Label", 64 << 10)]) == nil)
        #expect(item([("Label", 64 << 10 + 1)]) == .tooLarge)
        let four = ["Label", "Comment", "Generic", "Description"].map { ($0, 64 << 10) }
        #expect(item(four) == nil)
        #expect(item(four + [("Account", 1)]) == .tooLarge)
        #expect(
            refusal { () throws(Refusal) in
                _ = try WireDictionary((0..<129).map { ("\($0)", "x") })
            } == .tooLarge)
        #expect(
            refusal { () throws(Refusal) in
                _ = try WireDictionary((0..<128).map { ("\($0)", "x") })
            } == nil)
    }

    @Test func theNamedGroupIsKnownWhateverElseIsWrong() throws {
        #expect(
            try WireDictionary([("Nonsense", .other), ("AccessGroup", "g")]).namedGroup == AccessGroup("g"))
        #expect(try WireDictionary([("AccessGroup", .number(1))]).namedGroup == nil)
        #expect(try WireDictionary([("AccessGroup", "no group")]).namedGroup == nil)
        #expect(try WireDictionary(Self.generic).namedGroup == nil)
    }

    /// A refusal is written by us alone: nothing of a request stands in it.
    @Test(arguments: never) func noTextRepeatsWhatWasGiven(row: Row) {
        let marker = "MARKER9371"
        for entries in [row.entries + [("Account", Value.text(Array(marker.utf8))), (marker, "x")]] {
            do throws(Refusal) {
                _ = try Query(WireDictionary(Self.generic + entries), for: .read)
                Issue.record("taken")
            } catch {
                #expect(!error.text.contains(marker) && !error.text.isEmpty)
            }
        }
    }
}
