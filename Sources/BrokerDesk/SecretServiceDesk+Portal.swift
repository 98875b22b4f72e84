internal import BrokerGate
public import BrokerModel
internal import BrokerPeers
internal import BrokerVault
internal import SDBus
public import Sodium

extension SecretServiceDesk {
    /// The own secret of the application that has the id, for the desktop's portal: random bytes that are made when they are
    /// first asked for, and then stay. `made` is the item, where there was none before. `AccessDenied` to everybody else,
    /// `InteractionNotAllowed` while the collection is locked, `Param` for what is no id.
    public func applicationSecret(
        _ context: CallContext, _ id: String
    ) throws(Refusal) -> Outcome<(secret: SharedSecret, made: SecretItem?)> {
        try desk.withCaller(context) { (caller) throws(Refusal) in
            let grant = try self.desk.gate.grantForPortal(caller)
            let query = try Self.query(forApplication: id)
            do throws(Refusal) {
                return .now((try self.read(caller, grant, query).secret, nil))
            } catch {
                guard error.kind == .itemNotFound else { throw error }
            }
            return try self.make(id, query, caller)
        }
    }

    private func make(
        _ id: String, _ query: Query, _ caller: Caller
    ) throws(Refusal) -> Outcome<(secret: SharedSecret, made: SecretItem?)> {
        let item = try InternalItem(.secretServiceItem, Self.attributes(ofApplication: id))
        return try desk.waiting(caller, bytes: item.attributes.byteCount) { () async throws(Refusal) in
            let stored = try await self.desk.vault.findOrAddInternal(
                { () throws(Refusal) in try self.desk.gate.grantForPortal(caller) }, query, item,
                SharedSecret(Secret.random(Self.secretBytes)))
            self.desk.leaveUpkeep()
            let grant = try self.desk.gate.grantForPortal(caller)
            let found = try self.read(
                caller, grant, Query(internal: .secretServiceItem, reference: stored.reference))
            return (found.secret, stored.created ? self.record(found.attributes, .login, "login") : nil)
        }
    }

    private func read(
        _ caller: Caller, _ grant: borrowing Grant, _ query: Query
    ) throws(Refusal) -> ItemWithSecret {
        try checkOpen(.login)
        let found = try desk.vault.read(grant, query)
        desk.gate.recordRead(caller, .read, found.attributes.accessGroup)
        return found
    }

    // By its id alone: what another keyring has made says no more.
    private static func query(forApplication id: String) throws(Refusal) -> Query {
        guard (1...255).contains(id.utf8.count), id.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw Refusal(
                .param,
                "An application's id has 1 to 255 printable characters; a program without one has no secret.")
        }
        var attributes = AttributeSet()
        attributes.lookup = LookupAttributes(["app_id": id])
        return Query(internal: .secretServiceItem, attributes)
    }

    private static func attributes(ofApplication id: String) -> AttributeSet {
        var attributes = AttributeSet()
        attributes[.collection] = SecretCollection.ID.login.attribute
        attributes[.label] = .text(Array("Application key for \(id)".utf8))
        attributes.lookup = LookupAttributes([
            "app_id": id, "xdg:schema": "org.freedesktop.portal.Secret",
        ])
        return attributes
    }

    /// libsecret takes no other number.
    private static var secretBytes: Int { 64 }
}
