internal import BrokerBus
internal import BrokerDesk
internal import BrokerModel
internal import SDBus

extension SecretServiceFront {
    func collectionInterface() -> Interface {
        Interface(SecretServiceName.collection) {
            collectionMethods()
            Property.declared("Items", [ObjectPath].self)
            Property.declared("Label", String.self, isWritable: true)
            Property.declared("Locked", Bool.self)
            Property.declared("Created", UInt64.self)
            Property.declared("Modified", UInt64.self)
            Signal("ItemCreated", ["item"], ObjectPath.self)
            Signal("ItemDeleted", ["item"], ObjectPath.self)
            Signal("ItemChanged", ["item"], ObjectPath.self)
        }
    }

    @InterfaceBuilder private func collectionMethods() -> [InterfaceMember] {
        Method("Delete", out: ["prompt"]) {
            (call: borrowing Call) throws(BusError) -> Answer<ObjectPath> in
            let context = try self.context(call)
            let address = try self.collectionAddress(call)
            return try self.answer(context) { () throws(Refusal) in
                try self.desk.deleteCollection(context, address)
            } _: {
                self.tellDeleted($0.collection, $0.items)
                return .none
            }
        }
        Method("SearchItems", in: ["attributes"], out: ["results"]) {
            (call: borrowing Call, attributes: LookupAttributes) throws(BusError) -> Answer<[ObjectPath]> in
            let context = try self.context(call)
            let address = try self.collectionAddress(call)
            return try self.answer(context) { () throws(Refusal) in
                try self.desk.search(context, attributes, in: address)
            } _: {
                $0.map(\.path)
            }
        }
        Method("CreateItem", in: ["properties", "secret", "replace"], out: ["item", "prompt"]) {
            (call: borrowing Call, properties: NewProperties, secret: WireSecret, replaces: Bool)
                throws(BusError)
                -> Answer<(ObjectPath, ObjectPath)> in
            let context = try self.context(call)
            let address = try self.collectionAddress(call)
            let content = SecretItem.Content(
                label: try properties.label(of: SecretServiceName.item), lookup: try properties.attributes(),
                contentType: secret.contentType)
            let value = try self.open(secret, context)
            return try self.answer(context) { () throws(Refusal) in
                try self.desk.createItem(context, in: address, content, value, replacing: replaces)
            } _: {
                $0.isNew ? self.tellCreated($0.item) : self.tellChanged($0.item)
                return ($0.item.path, .none)
            }
        }.sensitive
    }
}
