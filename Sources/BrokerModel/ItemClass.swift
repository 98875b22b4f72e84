/// The kind of an item, which decides its attributes and its primary key.
///
/// The raw value is stored in the vault (docs/FORMATS.md).
public enum ItemClass: UInt8, CaseIterable, Sendable {
    case genericPassword = 1
    case internetPassword = 2
    /// What a program keeps by `org.freedesktop.secrets`; internal.
    case secretServiceItem = 3
    /// A collection of those; internal.
    case secretServiceCollection = 4
    /// The secret of an item of the first of these two, where it is of the foreground; internal. It has the reference of
    /// its item and nothing else.
    case secretServiceSecret = 5

    /// The word on the bus. `certificate`, `key` and `identity` are `NoSuchClass` until they are built.
    public var name: String {
        switch self {
        case .genericPassword: "generic-password"
        case .internetPassword: "internet-password"
        case .secretServiceItem: "secret-service-item"
        case .secretServiceCollection: "secret-service-collection"
        case .secretServiceSecret: "secret-service-secret"
        }
    }

    /// Nil for an unknown word, and for those of the internal classes.
    public init?(name: some StringProtocol) {
        let found = Self.allCases.first { $0.name == name }
        guard let found, !found.isInternal else { return nil }
        self = found
    }

    /// Whether the contract's own calls know nothing of such items.
    public var isInternal: Bool {
        switch self {
        case .genericPassword, .internetPassword: false
        case .secretServiceItem, .secretServiceCollection, .secretServiceSecret: true
        }
    }

    /// The attributes that make the primary key, in the order they are hashed in; the access group and
    /// `Synchronizable` belong to every primary key besides (SEMANTICS 2.2). An item of an internal class is known by
    /// its reference alone.
    public var primaryKey: [AttributeKey] {
        switch self {
        case .genericPassword: [.service, .account]
        case .internetPassword:
            [.server, .account, .securityDomain, .protocol, .authenticationType, .port, .path]
        case .secretServiceItem, .secretServiceCollection, .secretServiceSecret: []
        }
    }

    /// The attribute that `Logout` calls the item's service; nil for what only a logout of the whole group takes away.
    public var service: AttributeKey? {
        switch self {
        case .genericPassword: .service
        case .internetPassword: .server
        case .secretServiceItem, .secretServiceCollection, .secretServiceSecret: nil
        }
    }
}
