internal import BrokerHost
internal import BrokerModel
internal import Chatelaine

/// From item options to attributes. The broker judges them; only what cannot be sent is refused here.
extension Invocation {
    /// What `get`, `list` and `delete` look for.
    func query() throws(Failure) -> Attributes {
        if let reference = self[.reference] {
            guard !Option.item.contains(where: has) else {
                throw .usage("--reference stands alone, without any other item option", verb)
            }
            var query = Attributes()
            query["Reference"] = .text(reference)
            return query
        }
        var query = try itemAttributes()
        if has(.synchronizable) {
            query["Synchronizable"] = self[.synchronizable] == "any" ? .text("any") : .flag(true)
        }
        return query
    }

    /// What `set` stores.
    func newItem() throws(Failure) -> Attributes {
        guard Option.primaryKey.contains(where: has) else {
            throw .usage("an item is known by its \(itemClass.keyOptions); give one of them", verb)
        }
        guard self[.synchronizable] != "any" else {
            throw .usage("--synchronizable=any is not for set", verb)
        }
        var item = try itemAttributes()
        if has(.synchronizable) { item["Synchronizable"] = .flag(true) }
        try setTimes(of: &item)
        item["IfRevision"] = try ifRevision()
        return item
    }

    /// `--expires` and `--fresh-until`, from now on.
    func setTimes(of item: inout Attributes) throws(Failure) {
        item["Expires"] = try time(.expires)
        item["FreshUntil"] = try time(.freshUntil)
    }

    /// `--if-revision`.
    func ifRevision() throws(Failure) -> Attributes.Value? { try revision(.ifRevision).map { .counter($0) } }

    /// A number of 64 bits.
    func revision(_ option: Option) throws(Failure) -> UInt64? {
        guard let text = self[option] else { return nil }
        guard let revision = UInt64(text) else { throw .usage("\(option.name) needs a whole number", verb) }
        return revision
    }

    /// A number of 32 bits.
    func number(_ option: Option) throws(Failure) -> UInt32? {
        guard let text = self[option] else { return nil }
        guard let number = UInt32(text) else { throw .usage("\(option.name) needs a whole number", verb) }
        return number
    }

    private var itemClass: ItemClass { self[.itemClass].flatMap { ItemClass(name: $0) } ?? .genericPassword }

    private func itemAttributes() throws(Failure) -> Attributes {
        var attributes = Attributes()
        attributes["Class"] = .text(self[.itemClass] ?? ItemClass.genericPassword.name)
        for (option, key) in Self.texts {
            if let text = self[option] { attributes[key] = .text(text) }
        }
        attributes["Port"] = try number(.port).map { .number($0) }
        return attributes
    }

    private func time(_ option: Option) throws(Failure) -> Attributes.Value? {
        guard let text = self[option] else { return nil }
        guard let moment = Moment.parse(text, now: HostEnvironment.now) else {
            throw .usage("\(option.name) needs a time, such as 8h or 2030-01-31T12:00:00Z", verb)
        }
        return .counter(moment)
    }

    private static let texts: [(Option, String)] = [
        (.service, AttributeKey.service.name), (.server, AttributeKey.server.name),
        (.account, AttributeKey.account.name), (.securityDomain, AttributeKey.securityDomain.name),
        (.protocol, AttributeKey.protocol.name),
        (.authenticationType, AttributeKey.authenticationType.name), (.path, AttributeKey.path.name),
        (.label, AttributeKey.label.name), (.description, AttributeKey.description.name),
        (.comment, AttributeKey.comment.name), (.generic, AttributeKey.generic.name),
        (.group, "AccessGroup"), (.accessible, "Accessible"),
    ]
}

extension ItemClass {
    /// The options of its primary key, for a message.
    fileprivate var keyOptions: String {
        let names = primaryKey.compactMap { key in
            Option.primaryKey.first { $0.rawValue.replacing("-", with: "") == key.name.lowercased() }?.name
        }
        return names.joined(separator: ", ")
    }
}
