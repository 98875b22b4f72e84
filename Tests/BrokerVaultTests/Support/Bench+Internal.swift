import BrokerGate
import BrokerModel
import Sodium

@testable import BrokerVault

/// What the Secret Service's front asks of a vault.
extension Bench {
    /// Adds an item, and with `replacing` changes the one that is there. Tests tell items apart by their labels.
    @discardableResult func keep(
        _ label: String, _ lookup: [String: String] = [:], secret: String = "x",
        in collection: SecretCollection.ID = .login, replacing: Bool = false, as who: Who = .one
    ) async throws(Refusal) -> StoredItem {
        var attributes = AttributeSet()
        attributes[.label] = .text(Array(label.utf8))
        attributes[.contentType] = .text(Array("text/plain".utf8))
        attributes[.collection] = collection.attribute
        attributes.lookup = LookupAttributes(lookup)
        return try await vault.addInternal(
            { () throws(Refusal) in who.grant() },
            replacing: replacing ? { () throws(Refusal) in who.grant() } : nil,
            InternalItem(.secretServiceItem, attributes), SharedSecret(secret))
    }

    /// Makes a collection.
    @discardableResult func collect(_ label: String, as who: Who = .one) async throws(Refusal) -> Reference {
        var attributes = AttributeSet()
        attributes[.label] = .text(Array(label.utf8))
        attributes[.aliases] = .bytes(LookupAttributes(["work": ""]).encoded)
        return try await vault.addInternal(
            { () throws(Refusal) in who.grant() }, InternalItem(.secretServiceCollection, attributes),
            SharedSecret("")
        ).reference
    }

    /// The labels of the items that have the attributes, oldest first.
    func found(
        _ lookup: [String: String] = [:], in collection: SecretCollection.ID? = nil, as who: Who = .one
    ) throws(Refusal) -> [String] {
        try look(lookup, in: collection, as: who).map(\.label)
    }

    func look(
        _ lookup: [String: String] = [:], in collection: SecretCollection.ID? = nil, as who: Who = .one
    ) throws(Refusal) -> [ItemAttributes] {
        var attributes = AttributeSet()
        if let collection { attributes[.collection] = collection.attribute }
        if !lookup.isEmpty { attributes.lookup = LookupAttributes(lookup) }
        return try vault.search(who.grant(), Query(internal: .secretServiceItem, attributes))
    }

    /// The labels of the collections.
    func collections(as who: Who = .one) throws(Refusal) -> [String] {
        try vault.search(who.grant(), Query(internal: .secretServiceCollection)).map(\.label)
    }

    /// An item with its secret.
    func kept(
        _ reference: Reference, of itemClass: ItemClass = .secretServiceItem, as who: Who = .one
    ) throws(Refusal) -> ItemWithSecret {
        try vault.read(who.grant(), Query(internal: itemClass, reference: reference))
    }

    func keptSecret(_ reference: Reference, as who: Who = .one) throws(Refusal) -> String {
        try kept(reference, as: who).secret.text
    }

    func rework(
        _ reference: Reference, label: String? = nil, _ lookup: [String: String]? = nil,
        secret: String? = nil,
        as who: Who = .one
    ) async throws(Refusal) {
        var attributes = AttributeSet()
        if let label { attributes[.label] = .text(Array(label.utf8)) }
        if let lookup { attributes.lookup = LookupAttributes(lookup) }
        try await vault.updateInternal(
            { () throws(Refusal) in who.grant() }, .secretServiceItem, reference, attributes,
            secret.map { SharedSecret($0) })
    }

    func drop(_ references: Reference..., as who: Who = .one) async throws(Refusal) {
        try await vault.deleteInternal(
            { () throws(Refusal) in who.grant() },
            references.map { Query(internal: .secretServiceItem, reference: $0) })
    }

    func move(from group: AccessGroup, to target: AccessGroup) async throws(Refusal) -> UInt32 {
        let who = Who(groups: [group, target])
        return try await vault.moveItems({ () throws(Refusal) in who.grant() }, to: target)
    }
}

extension ItemAttributes {
    var label: String { String(decoding: attributes[.label]?.blob ?? [], as: UTF8.self) }
}
