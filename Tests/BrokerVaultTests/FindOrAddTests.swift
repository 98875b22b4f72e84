import BrokerModel
import Sodium
import Testing

@testable import BrokerVault

/// A secret that there must be one of.
@Suite struct FindOrAddTests {
    let bench: Bench

    init() async throws { bench = try await Bench() }

    @discardableResult @VaultActor private func findOrAdd(
        _ secret: String, _ more: [String: String] = [:], as who: Who = .one
    ) async throws(Refusal) -> StoredItem {
        var attributes = AttributeSet()
        attributes[.collection] = SecretCollection.ID.login.attribute
        attributes.lookup = LookupAttributes(["id": "1"].merging(more) { $1 })
        let item = try InternalItem(.secretServiceItem, attributes)
        return try await bench.vault.findOrAddInternal(
            { () throws(Refusal) in who.grant() }, Self.query, item, SharedSecret(secret))
    }

    private static var query: Query {
        var attributes = AttributeSet()
        attributes.lookup = LookupAttributes(["id": "1"])
        return Query(internal: .secretServiceItem, attributes)
    }

    @discardableResult @VaultActor private func secret(as who: Who = .one) throws(Refusal) -> String {
        try bench.vault.read(who.grant(), Self.query).secret.text
    }

    @VaultActor @Test func whatIsThereIsFoundWithMoreAttributesToo() async throws {
        let first = try await findOrAdd("1", ["more": "x"])
        let second = try await findOrAdd("2")
        #expect(first.created && !second.created && first.reference == second.reference)
        #expect(try secret() == "1")
    }

    @VaultActor @Test func ofManyAtOnceOneAdds() async throws {
        let added = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<16 {
                group.addTask { (try? await findOrAdd("\(number)"))?.created ?? false }
            }
            var added = 0
            for await isNew in group where isNew { added += 1 }
            return added
        }
        #expect(added == 1)
        #expect(try bench.number("SELECT count(*) FROM background_items") == 1)
    }

    @VaultActor @Test func anothersIsNotFound() async throws {
        try await findOrAdd("1")
        #expect(try await findOrAdd("2", as: .two).created)
        #expect(try secret(as: .two) == "2")
    }

    @VaultActor @Test(arguments: ["attributes", "secret"])
    func aDamagedOneIsNotReplaced(column: String) async throws {
        try await findOrAdd("1")
        try bench.tamper("UPDATE background_items SET \(column) = zeroblob(300)")
        if column == "attributes" {
            #expect(await refusal { () throws(Refusal) in try await findOrAdd("2") } == .decode)
        } else {
            #expect(try await findOrAdd("2").created == false)
        }
        #expect(await refusal { () throws(Refusal) in try secret() } == .decode)
        #expect(try bench.number("SELECT count(*) FROM background_items") == 1)
    }
}
