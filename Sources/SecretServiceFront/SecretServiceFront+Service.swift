internal import BrokerBus
internal import BrokerDesk
internal import BrokerModel
internal import SDBus

extension SecretServiceFront {
    func serviceInterface() -> Interface {
        Interface(SecretServiceName.service) {
            serviceSessions()
            serviceCollections()
            serviceItems()
            Property.declared("Collections", [ObjectPath].self)
            Signal("CollectionCreated", ["collection"], ObjectPath.self)
            Signal("CollectionDeleted", ["collection"], ObjectPath.self)
            Signal("CollectionChanged", ["collection"], ObjectPath.self)
        }
    }

    @InterfaceBuilder private func serviceSessions() -> [InterfaceMember] {
        Method("OpenSession", in: ["algorithm", "input"], out: ["output", "result"]) {
            (call: borrowing Call, algorithm: String, input: ReceivedValue) throws(BusError)
                -> (Variant, ObjectPath) in
            let context = try self.context(call)
            let opened = try self.sessions.open(algorithm, input, owner: context.connection)
            return (opened.output, ObjectPath(opened.path))
        }
    }

    @InterfaceBuilder private func serviceCollections() -> [InterfaceMember] {
        Method("CreateCollection", in: ["properties", "alias"], out: ["collection", "prompt"]) {
            (call: borrowing Call, properties: NewProperties, alias: String) throws(BusError)
                -> Answer<(ObjectPath, ObjectPath)> in
            let context = try self.context(call)
            let label = try properties.label(of: SecretServiceName.collection)
            return try self.answer(context) { () throws(Refusal) in
                try self.desk.createCollection(context, label: label, alias: alias)
            } _: {
                if $0.isNew { self.tellCreated($0.collection) }
                return ($0.collection.path, .none)
            }
        }
        Method("ReadAlias", in: ["name"], out: ["collection"]) {
            (call: borrowing Call, name: String) throws(BusError) -> Answer<ObjectPath> in
            let context = try self.context(call)
            return try self.answer(context) { () throws(Refusal) in
                try self.desk.readAlias(context, name)
            } _: {
                $0?.path ?? .none
            }
        }
        Method("SetAlias", in: ["name", "collection"]) {
            (call: borrowing Call, name: String, path: ObjectPath) throws(BusError) -> Answer<Void> in
            let context = try self.context(call)
            let address = SecretPath(path.value)?.collection
            guard path == .none || address != nil else { throw .noSuchObject }
            return try self.answer(context) { () throws(Refusal) in
                try self.desk.setAlias(context, name, to: address)
            } _: {
                $0
            }
        }
        Method("Unlock", in: ["objects"], out: ["unlocked", "prompt"]) {
            (call: borrowing Call, paths: [ObjectPath]) throws(BusError) -> Answer<([ObjectPath], ObjectPath)>
            in
            try self.unlock(paths, try self.context(call))
        }
        Method("Lock", in: ["objects"], out: ["locked", "prompt"]) {
            (call: borrowing Call, paths: [ObjectPath]) throws(BusError) -> Answer<([ObjectPath], ObjectPath)>
            in
            let context = try self.context(call)
            let (objects, known) = Self.objects(paths)
            return try self.answer(context) { () throws(Refusal) in
                try self.desk.lock(context, objects)
            } _: {
                if !$0.collections.isEmpty { self.lockingChanged($0.collections) }
                return ($0.done.map { known[$0] }, .none)
            }
        }
    }

    @InterfaceBuilder private func serviceItems() -> [InterfaceMember] {
        Method("SearchItems", in: ["attributes"], out: ["unlocked", "locked"]) {
            (call: borrowing Call, attributes: LookupAttributes) throws(BusError)
                -> Answer<([ObjectPath], [ObjectPath])> in
            let context = try self.context(call)
            return try self.answer(context) { () throws(Refusal) in
                try self.desk.search(context, attributes, in: nil)
            } _: {
                ($0.filter { !$0.isLocked }.map(\.path), $0.filter(\.isLocked).map(\.path))
            }
        }
        Method("GetSecrets", in: ["items", "session"], out: ["secrets"]) {
            (call: borrowing Call, paths: [ObjectPath], path: ObjectPath) throws(BusError)
                -> Answer<[ObjectPath: WireSecretReply]> in
            let context = try self.context(call)
            let session = try self.sessions.session(path, owner: context.connection)
            let items = paths.compactMap { path in SecretPath(path.value)?.item.map { (path, $0) } }
            return try self.answer(context) { () throws(Refusal) in
                try self.desk.secrets(context, items.map { $0.1 })
            } _: {
                var replies: [ObjectPath: WireSecretReply] = [:]
                for (index, item, secret) in $0 {
                    replies[items[index].0] = WireSecretReply(
                        secret: secret, contentType: item.contentType, session: session)
                }
                return replies
            }
        }.sensitive
    }
}
