internal import BrokerBus
internal import BrokerDesk
internal import BrokerModel
internal import SDBus

extension SecretServiceFront {
    /// `org.freedesktop.DBus.Properties` of every object here. Whoever asks may not be known yet, and a change is answered
    /// when it is durable: neither can be waited for where sd-bus asks.
    func propertiesInterface() -> Interface {
        Interface(SecretServiceName.properties) {
            Method("Get", in: ["interface", "property"], out: ["value"]) {
                (call: borrowing Call, interface: String, name: String) throws(BusError) -> Answer<Variant> in
                let context = try self.context(call)
                let path = try self.object(call, interface)
                return try self.answer(context) { () throws(Refusal) in
                    try self.values(of: path, only: name, context)
                } _: { (values) throws(BusError) in
                    guard let value = values[name] else { throw .noSuchProperty }
                    return value
                }
            }
            Method("GetAll", in: ["interface"], out: ["values"]) {
                (call: borrowing Call, interface: String) throws(BusError) -> Answer<[String: Variant]> in
                let context = try self.context(call)
                let path = try self.object(call, interface)
                return try self.answer(context) { () throws(Refusal) in
                    try self.values(of: path, only: nil, context)
                } _: {
                    $0
                }
            }
            Method("Set", in: ["interface", "property", "value"]) {
                (call: borrowing Call, interface: String, name: String, value: ReceivedValue) throws(BusError)
                    -> Answer<Void> in
                let context = try self.context(call)
                return try self.set(name, to: value, of: self.object(call, interface), context)
            }
        }
    }

    private func object(_ call: borrowing Call, _ interface: String) throws(BusError) -> SecretPath {
        guard let path = SecretPath(call.path) else { throw .noSuchObject }
        guard interface.isEmpty || interface == path.interface else {
            throw BusError(
                name: "org.freedesktop.DBus.Error.UnknownInterface",
                message: "The object has no such interface with properties.")
        }
        return path
    }

    private func values(
        of path: SecretPath, only name: String?, _ context: CallContext
    ) throws(Refusal) -> Outcome<[String: Variant]> {
        switch path {
        case .service:
            return try desk.collections(context).map { ["Collections": Variant($0.map(\.path))] }
        case .collection(let address):
            let values = try desk.collection(context, address).map { Self.values(of: $0) }
            guard name == nil || name == "Items" else { return values }
            return try desk.collectionWithItems(context, address).map {
                Self.values(of: $0.collection).merging(["Items": Variant($0.items.map(\.path))]) { $1 }
            }
        case .item(let address): return try desk.item(context, address).map { Self.values(of: $0) }
        case .session, .prompt: return .now([:])
        }
    }

    static func values(of collection: SecretCollection) -> [String: Variant] {
        [
            "Label": Variant(collection.label), "Locked": Variant(collection.isLocked),
            "Created": Variant(collection.created / 1_000_000),
            "Modified": Variant(collection.modified / 1_000_000),
        ]
    }

    static func values(of item: SecretItem) -> [String: Variant] {
        [
            "Label": Variant(item.label), "Locked": Variant(item.isLocked),
            "Attributes": Variant(item.lookup), "Created": Variant(item.created / 1_000_000),
            "Modified": Variant(item.modified / 1_000_000),
        ]
    }

    private func set(
        _ name: String, to value: ReceivedValue, of path: SecretPath, _ context: CallContext
    ) throws(BusError) -> Answer<Void> {
        switch (path, name, value) {
        case (.collection(let address), "Label", .text(let label)):
            return try answer(context) { () throws(Refusal) in
                try self.desk.relabel(context, address, label)
            } _: {
                self.tellChanged($0)
            }
        case (.item(let address), "Label", .text(let label)):
            var change = SecretItem.Change()
            change.label = label
            return try set(change, of: address, context)
        case (.item(let address), "Attributes", .attributes(let attributes)):
            var change = SecretItem.Change()
            change.lookup = attributes
            return try set(change, of: address, context)
        case (.collection, "Label", _), (.item, "Label", _), (.item, "Attributes", _):
            throw .invalidArguments("The value is of another type.")
        case (.service, "Collections", _), (.collection, "Items", _), (_, "Locked", _), (_, "Created", _),
            (_, "Modified", _):
            throw .readOnlyProperty
        default: throw .noSuchProperty
        }
    }

    private func set(
        _ change: SecretItem.Change, of address: SecretItem.Address, _ context: CallContext
    ) throws(BusError) -> Answer<Void> {
        try answer(context) { () throws(Refusal) in
            try self.desk.change(context, address, change)
        } _: {
            self.tellChanged($0)
        }
    }
}
