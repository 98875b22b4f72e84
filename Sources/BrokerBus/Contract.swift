/// The names of the contract (INTERFACE.md, names). `dbus/` holds the same as introspection XML.
public enum Contract {
    /// The bus name.
    public static let name = "org.chatelaine.Broker1"
    /// The object.
    public static let path = "/org/chatelaine/Broker1"
    /// Where session objects are; also the prefix of their paths.
    public static let sessions = path + "/session"
    /// The path that stands for a ready plain session, where plain sessions are allowed.
    public static let plainSession = "/"

    /// The interfaces.
    public enum Interface {
        /// Items and sessions.
        public static let items = name + ".Items"
        /// Who is told of what.
        public static let subscriptions = name + ".Subscriptions"
        /// Passcode, lock and administration.
        public static let manager = name + ".Manager"
        /// On a session's own object.
        public static let session = name + ".Session"
    }

    /// What every error's name begins with.
    public static let errorPrefix = "org.chatelaine.Error."

    /// The algorithms of `OpenSession`.
    public enum Algorithm: String, Sendable {
        case plain
        case x25519 = "x25519-hkdf-sha256-chacha20poly1305"
    }

    /// The version of the contract and of the product.
    public static let version = "0.1.0"
}
