public import BrokerModel
public import Sodium

/// A secret on its way in: as it was given, and where a password came with it also under that password. The
/// protection that the item turns out to have decides which is stored.
public struct IncomingSecret: Sendable {
    let plain: SharedSecret
    let layered: SharedSecret?

    /// A secret without a password.
    public init(_ plain: SharedSecret) { self.init(plain: plain, layered: nil) }

    init(plain: SharedSecret, layered: SharedSecret?) {
        self.plain = plain
        self.layered = layered
    }

    /// `AuthFailed` where the item needs a password and none was given.
    func chosen(for protection: Protection) throws(Refusal) -> SharedSecret {
        guard protection.hasApplicationPassword else { return plain }
        guard let layered else { throw .applicationPasswordMissing }
        return layered
    }
}

extension ItemWithSecret {
    /// Whether the secret is still under an application password.
    public var needsApplicationPassword: Bool { attributes.protection.hasApplicationPassword }
}

extension Vault {
    /// Puts a secret under the password that came with it, if one did.
    public func incoming(
        _ secret: SharedSecret, _ password: SharedSecret?
    ) async throws(Refusal) -> IncomingSecret {
        guard let password else { return IncomingSecret(secret) }
        let parameters = ApplicationPasswordLayer.Parameters.fresh()
        let key = try await key(password, parameters)
        let layered = ApplicationPasswordLayer.wrap(secret.secret, parameters, key: key)
        return IncomingSecret(plain: secret, layered: SharedSecret(layered))
    }

    /// Reads items again once the keys of their passwords are derived, and opens the layers. `read` is called
    /// anew after every wait, so that a lock or another policy that came meanwhile is heeded. `AuthFailed`.
    public func opening(
        _ password: SharedSecret?, _ read: () throws(Refusal) -> [ItemWithSecret]
    ) async throws(Refusal) -> [ItemWithSecret] {
        var keys: [(parameters: ApplicationPasswordLayer.Parameters, key: SharedSecret)] = []
        while true {
            let items = try read()
            var missing: ApplicationPasswordLayer.Parameters?
            for item in items where item.needsApplicationPassword {
                guard password != nil else { throw .applicationPasswordMissing }
                guard let parameters = ApplicationPasswordLayer.Parameters(of: item.secret.secret) else {
                    throw .damagedItem
                }
                if !keys.contains(where: { $0.parameters == parameters }) { missing = parameters }
            }
            guard let missing, let password else {
                return try items.map { (item) throws(Refusal) in try Self.opened(item, keys) }
            }
            let key = try await key(password, missing)
            keys.append((missing, SharedSecret(key.bytes.duplicate())))
        }
    }

    private static func opened(
        _ item: ItemWithSecret,
        _ keys: [(parameters: ApplicationPasswordLayer.Parameters, key: SharedSecret)]
    ) throws(Refusal) -> ItemWithSecret {
        guard item.needsApplicationPassword else { return item }
        let parameters = ApplicationPasswordLayer.Parameters(of: item.secret.secret)
        guard let found = keys.first(where: { $0.parameters == parameters }),
            let key = Key(found.key.secret.duplicate()),
            let plain = ApplicationPasswordLayer.open(item.secret.secret, key: key)
        else { throw .applicationPasswordWrong }
        return ItemWithSecret(item.attributes, plain)
    }

    private func key(
        _ password: SharedSecret, _ parameters: ApplicationPasswordLayer.Parameters
    ) async throws(Refusal) -> Key {
        let derived = await surroundings.derivationThread.run { () -> SharedSecret? in
            let key = Argon2id.derive(password.secret, salt: parameters.salt, cost: parameters.cost)
            guard let key else { return nil }
            return SharedSecret(key.bytes.duplicate())
        }
        guard let derived, let key = Key(derived.secret.duplicate()) else {
            throw Refusal(.notAvailable, "There is no memory to derive the password's key; try again.")
        }
        return key
    }
}

extension Refusal {
    static let applicationPasswordMissing = Refusal(
        .authFailed, "The item has an application password; give it as ApplicationPassword.")
    static let applicationPasswordWrong = Refusal(.authFailed, "The application password is wrong.")
}
