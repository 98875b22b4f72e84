/// The names of the Secret Service API (draft 0.2).
public enum SecretServiceName {
    /// The bus name.
    public static let bus = "org.freedesktop.secrets"
    /// The service's object; everything else is below it.
    public static let root = "/org/freedesktop/secrets"
    static let collections = root + "/collection"
    static let aliases = root + "/aliases"
    static let sessions = root + "/session"
    static let prompts = root + "/prompt"

    static let service = "org.freedesktop.Secret.Service"
    static let collection = "org.freedesktop.Secret.Collection"
    static let item = "org.freedesktop.Secret.Item"
    static let session = "org.freedesktop.Secret.Session"
    static let prompt = "org.freedesktop.Secret.Prompt"
    static let properties = "org.freedesktop.DBus.Properties"

    static let plain = "plain"
    static let encrypted = "dh-ietf1024-sha256-aes128-cbc-pkcs7"
}
