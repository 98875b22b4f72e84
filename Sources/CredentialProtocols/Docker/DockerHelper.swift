internal import Chatelaine
internal import Console
internal import SDBus
internal import Sodium

/// docker's credential helper, over one connection to the broker.
///
/// A registry has one credential. Its item is a generic password with the registry's URL as service and no account; the
/// user name stands beside the key, in `Generic`, so that another user's replaces it in one step.
@BrokerActor struct DockerHelper {
    private let broker: Broker

    init(_ broker: Broker) { self.broker = broker }

    /// Keeps what docker hands over.
    func store(_ credentials: DockerCredentials) async throws(HelperFailure) {
        let (attributes, secret) = (credentials.item, SharedSecret(credentials.secret.copy()))
        _ = try await onBroker { () async throws(ChatelaineError) in
            try await broker.store(attributes, secret)
        }
    }

    /// The answer for a registry.
    func get(_ serverURL: String) async throws(HelperFailure) -> Secret {
        let query = DockerCredentials.key(serverURL)
        let item = try await onBroker { () async throws(ChatelaineError) in try await broker.read(query) }
        guard let item else { throw DockerMessage.notFound }
        let username = Self.text(item.attributes["Generic"])
        return DockerCredentials(
            serverURL: serverURL, username: username, secret: SecretSlice(item.secret)
        ).answer
    }

    /// Drops a registry's; none is no error.
    func erase(_ serverURL: String) async throws(HelperFailure) {
        let query = DockerCredentials.key(serverURL)
        _ = try await onBroker { () async throws(ChatelaineError) in try await broker.delete(query) }
    }

    /// Every registry with its user name. No secret is decrypted for it.
    func list() async throws(HelperFailure) -> JSON {
        var query = Attributes()
        query["Class"] = .text("generic-password")
        query["Label"] = .text("Docker Credentials")
        let all = query
        let items = try await onBroker { () async throws(ChatelaineError) in try await broker.search(all) }
        return .object(
            (items ?? []).map { JSON.Member(Self.text($0["Service"]), .string(Self.text($0["Generic"]))) })
    }

    private static func text(_ value: Attributes.Value?) -> String {
        if case .text(let text) = value { text } else { "" }
    }
}
