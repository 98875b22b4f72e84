internal import BrokerModel
internal import SDBus
internal import Sodium

extension Dispatch {
    /// `org.chatelaine.Broker1.Items` (INTERFACE).
    func itemsInterface() -> Interface {
        Interface(Contract.Interface.items) {
            Method("OpenSession", in: ["algorithm", "input"], out: ["output", "session"]) {
                (call: borrowing Call, algorithm: String, input: SessionInput) throws(BusError)
                    -> (SessionOutput, ObjectPath) in
                let context = try context(call)
                let opened = try onWire { () throws(Refusal) in
                    try sessions.open(algorithm, input, owner: context.connection)
                }
                return (opened.output, ObjectPath(opened.path))
            }
            additions()
            readings()
            changes()
        }
    }

    @InterfaceBuilder private func additions() -> [InterfaceMember] {
        Method("Add", in: ["attributes", "secret"], out: ["reference", "revision"]) {
            (call: borrowing Call, attributes: WireAttributes, secret: SealedSecret) throws(BusError)
                -> Answer<(String, UInt64)> in
            let context = try context(call)
            let dictionary = try open(attributes, context)
            let secret = try open(secret, context)
            return try answer(context) { () throws(Refusal) in
                try service.add(context, dictionary, secret)
            } _: {
                ($0.reference.description, $0.revision)
            }
        }.sensitive
        Method("Store", in: ["attributes", "secret"], out: ["reference", "revision", "created"]) {
            (call: borrowing Call, attributes: WireAttributes, secret: SealedSecret) throws(BusError)
                -> Answer<(String, UInt64, Bool)> in
            let context = try context(call)
            let dictionary = try open(attributes, context)
            let secret = try open(secret, context)
            return try answer(context) { () throws(Refusal) in
                try service.store(context, dictionary, secret)
            } _: {
                ($0.reference.description, $0.revision, $0.created)
            }
        }.sensitive
    }

    @InterfaceBuilder private func readings() -> [InterfaceMember] {
        Method("Read", in: ["query", "session"], out: ["attributes", "secret"]) {
            (call: borrowing Call, query: WireAttributes, path: ObjectPath) throws(BusError)
                -> Answer<(AttributesReply, OutgoingSecret)> in
            let context = try context(call)
            let dictionary = try open(query, context)
            let session = try session(path, context)
            return try answer(context) { () throws(Refusal) in
                try service.read(context, dictionary)
            } _: {
                (AttributesReply($0.attributes), OutgoingSecret($0.secret, for: session))
            }
        }.sensitive
        Method("ReadAll", in: ["query", "session"], out: ["items"]) {
            (call: borrowing Call, query: WireAttributes, path: ObjectPath) throws(BusError)
                -> Answer<[ItemReply]> in
            let context = try context(call)
            let dictionary = try open(query, context)
            let session = try session(path, context)
            return try answer(context) { () throws(Refusal) in
                try service.readAll(context, dictionary)
            } _: {
                $0.map { ItemReply($0, for: session) }
            }
        }.sensitive
        Method("Search", in: ["query"], out: ["items"]) {
            (call: borrowing Call, query: WireAttributes) throws(BusError) -> Answer<[AttributesReply]> in
            let context = try context(call)
            let dictionary = try open(query, context)
            return try answer(context) { () throws(Refusal) in
                try service.search(context, dictionary)
            } _: {
                $0.map { AttributesReply($0) }
            }
        }.sensitive
    }

    @InterfaceBuilder private func changes() -> [InterfaceMember] {
        Method("Update", in: ["query", "changes", "secret"], out: ["updated"]) {
            (
                call: borrowing Call, query: WireAttributes, changes: WireAttributes, secrets: [SealedSecret]
            ) throws(BusError) -> Answer<UInt32> in
            let context = try context(call)
            let query = try open(query, context)
            let changes = try open(changes, context)
            var opened: [SharedSecret] = []
            for secret in secrets { opened.append(try open(secret, context)) }
            guard opened.count <= 1 else {
                throw BusError(.param("Update takes one secret, or none to leave it as it is."))
            }
            let secret = opened.first
            return try answer(context) { () throws(Refusal) in
                try service.update(context, query, changes, secret)
            } _: {
                $0
            }
        }.sensitive
        Method("Delete", in: ["query"], out: ["deleted"]) {
            (call: borrowing Call, query: WireAttributes) throws(BusError) -> Answer<UInt32> in
            let context = try context(call)
            let dictionary = try open(query, context)
            return try answer(context) { () throws(Refusal) in
                try service.delete(context, dictionary)
            } _: {
                $0
            }
        }.sensitive
        Method("Logout", in: ["group", "service", "reason"], out: ["deleted", "epoch"]) {
            (call: borrowing Call, group: String, name: String, reason: String) throws(BusError)
                -> Answer<(UInt32, UInt64)> in
            let context = try context(call)
            return try answer(context) { () throws(Refusal) in
                try service.logout(context, group: group, service: name, reason: reason)
            } _: {
                ($0.deleted, $0.epoch)
            }
        }
    }
}
