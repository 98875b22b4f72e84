internal import BrokerDesk
internal import BrokerModel
internal import SDBus
internal import Sodium

extension SecretServiceFront {
    func itemInterface() -> Interface {
        Interface(SecretServiceName.item) {
            itemMethods()
            Property.declared("Locked", Bool.self)
            Property.declared("Attributes", [String: String].self, isWritable: true)
            Property.declared("Label", String.self, isWritable: true)
            Property.declared("Created", UInt64.self)
            Property.declared("Modified", UInt64.self)
        }
    }

    @InterfaceBuilder private func itemMethods() -> [InterfaceMember] {
        Method("Delete", out: ["prompt"]) {
            (call: borrowing Call) throws(BusError) -> Answer<ObjectPath> in
            let context = try self.context(call)
            let address = try self.itemAddress(call)
            return try self.answer(context) { () throws(Refusal) in
                try self.desk.deleteItem(context, address)
            } _: {
                self.tellDeleted($0)
                return .none
            }
        }
        Method("GetSecret", in: ["session"], out: ["secret"]) {
            (call: borrowing Call, path: ObjectPath) throws(BusError) -> Answer<WireSecretReply> in
            let context = try self.context(call)
            let address = try self.itemAddress(call)
            let session = try self.sessions.session(path, owner: context.connection)
            return try self.answer(context) { () throws(Refusal) in
                try self.desk.secret(context, address)
            } _: {
                WireSecretReply(secret: $0.secret, contentType: $0.item.contentType, session: session)
            }
        }.sensitive
        Method("SetSecret", in: ["secret"]) {
            (call: borrowing Call, secret: WireSecret) throws(BusError) -> Answer<Void> in
            let context = try self.context(call)
            let address = try self.itemAddress(call)
            let value = try self.open(secret, context)
            var change = SecretItem.Change()
            change.contentType = secret.contentType
            return try self.answer(context) { () throws(Refusal) in
                try self.desk.change(context, address, change, value)
            } _: {
                self.tellChanged($0)
            }
        }.sensitive
    }

    /// Opens a secret that came in. `LimitsExceeded` for one that no item may have.
    func open(_ sealed: WireSecret, _ context: CallContext) throws(BusError) -> SharedSecret {
        let opened = try sessions.session(sealed.session, owner: context.connection).open(sealed)
        guard opened.secret.count <= Limits.secretBytesMax else {
            throw BusError(secretService: Refusal(.tooLarge, "A secret has 1 MiB at most."))
        }
        return opened
    }
}
