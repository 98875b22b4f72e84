/// The names of the contract (INTERFACE.md, names). `dbus/` holds the same as introspection XML.
public enum Contract {
    /// The bus name.
    public static let name = "org.chatelaine.Broker1"
    /// The object.
    public static let path = "/org/chatelaine/Broker1"
    /// Where session objects are; also the prefix of their paths.
    public static let sessions = path + "/session"
    /// Where the objects are that name a user, with `--system`.
    public static let users = path + "/user"
    /// The path that stands for a ready plain session, where plain sessions are allowed.
    public static let plainSession = "/"

    /// The interfaces.
    public enum Interface {
        /// Items and sessions.
        public static let items = name + ".Items"
        /// Who is told of what.
        public static let subscriptions = name + ".Subscriptions"
        /// One process refreshes, the others wait for its result.
        public static let refresh = name + ".Refresh"
        /// Passcode, lock and administration.
        public static let manager = name + ".Manager"
        /// On a session's own object.
        public static let session = name + ".Session"
    }

    /// The user that an object names: a plain decimal number, so that each user has one object.
    static func userID(ofObject object: String) -> UInt32? {
        guard object.hasPrefix(users + "/") else { return nil }
        let text = object.dropFirst(users.utf8.count + 1)
        // The last number stands for no user.
        guard let userID = UInt32(text), userID != .max, String(userID) == text else { return nil }
        return userID
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
