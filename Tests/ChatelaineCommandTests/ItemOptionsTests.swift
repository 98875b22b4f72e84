import BrokerModel
import Chatelaine
import Testing

@testable import ChatelaineCommand

@Suite struct ItemOptionsTests {
    @Test func optionsBecomeTheContractsKeys() throws {
        let query = try invocation(
            .get,
            [
                .itemClass: "internet-password", .server: "a", .account: "b", .securityDomain: "c",
                .protocol: "d", .authenticationType: "e", .path: "f", .port: "993", .label: "g",
                .description: "h", .comment: "i", .generic: "j", .group: "k", .accessible: "l",
            ]
        ).query()
        let texts = [
            "Class": "internet-password", "Server": "a", "Account": "b", "SecurityDomain": "c",
            "Protocol": "d", "AuthenticationType": "e", "Path": "f", "Label": "g", "Description": "h",
            "Comment": "i", "Generic": "j", "AccessGroup": "k", "Accessible": "l",
        ]
        for (key, text) in texts { #expect(query[key] == .text(text)) }
        #expect(query["Port"] == .number(993))
        #expect(query.entries.count == texts.count + 1)
    }

    @Test func theClassIsGenericPasswordUnlessSaid() throws {
        #expect(try invocation(.list, [:]).query()["Class"] == .text("generic-password"))
    }

    @Test func synchronizableIsAFlagOrAny() throws {
        #expect(try invocation(.get, [.service: "a"]).query()["Synchronizable"] == nil)
        #expect(try invocation(.get, [.synchronizable: ""]).query()["Synchronizable"] == .flag(true))
        #expect(try invocation(.get, [.synchronizable: "any"]).query()["Synchronizable"] == .text("any"))
        #expect(throws: Failure.self) {
            try invocation(.set, [.service: "a", .synchronizable: "any"]).newItem()
        }
    }

    @Test func aReferenceStandsAlone() throws {
        let query = try invocation(.get, [.reference: "a"]).query()
        #expect(query.entries.map(\.key) == ["Reference"])
        for option in Option.item {
            #expect(throws: Failure.self) { try invocation(.get, [.reference: "a", option: "1"]).query() }
        }
    }

    @Test func anItemNeedsAPartOfItsKey() throws {
        #expect(throws: Failure.self) { try invocation(.set, [.label: "a"]).newItem() }
        for option in Option.primaryKey { _ = try invocation(.set, [option: "1"]).newItem() }
    }

    @Test(arguments: [Option.port, .ifRevision, .expires, .freshUntil])
    func whatIsNoNumberOrTimeIsRefused(option: Option) throws {
        for text in ["", "-1", "x", "1.5", "99999999999999999999999"] {
            #expect(throws: Failure.self) {
                try invocation(.set, [.service: "a", option: text]).newItem()
            }
        }
    }

    @Test func timesAndRevisionsAreCounters() throws {
        let item = try invocation(
            .set, [.service: "a", .expires: "2030-01-31T12:00:00Z", .ifRevision: "0"]
        ).newItem()
        #expect(item["Expires"] == .counter(1_896_091_200_000_000))
        #expect(item["IfRevision"] == .counter(0))
    }

    private func invocation(_ verb: Verb, _ options: [Option: String]) throws -> Invocation {
        var invocation = Invocation(verb)
        for (option, value) in options { try invocation.add(option, value) }
        return invocation
    }
}
