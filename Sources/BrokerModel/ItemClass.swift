/// The kind of an item, which decides its attributes and its primary key.
///
/// The raw value is stored in the vault (docs/FORMATS.md).
public enum ItemClass: UInt8, CaseIterable, Sendable {
    case genericPassword = 1
    case internetPassword = 2

    /// The word on the bus. `certificate`, `key` and `identity` are `NoSuchClass` until they are built.
    public var name: String {
        switch self {
        case .genericPassword: "generic-password"
        case .internetPassword: "internet-password"
        }
    }

    /// Nil for an unknown word.
    public init?(name: some StringProtocol) {
        guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }

    /// The attributes that make the primary key, in the order they are hashed in; the access group and
    /// `Synchronizable` belong to every primary key besides (SEMANTICS 2.2).
    public var primaryKey: [AttributeKey] {
        switch self {
        case .genericPassword: [.service, .account]
        case .internetPassword:
            [.server, .account, .securityDomain, .protocol, .authenticationType, .port, .path]
        }
    }

    /// The attribute that `Logout` calls the item's service.
    public var service: AttributeKey {
        switch self {
        case .genericPassword: .service
        case .internetPassword: .server
        }
    }
}
