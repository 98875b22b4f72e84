internal import BrokerModel
internal import SDBus

extension BusError {
    /// A refusal in the words that clients of the Secret Service know.
    init(secretService refusal: Refusal) {
        let name =
            switch refusal.kind {
            case .itemNotFound: "org.freedesktop.Secret.Error.NoSuchObject"
            case .interactionNotAllowed: "org.freedesktop.Secret.Error.IsLocked"
            case .noSession: "org.freedesktop.Secret.Error.NoSession"
            case .missingEntitlement, .accessDenied, .identityUnavailable:
                "org.freedesktop.DBus.Error.AccessDenied"
            case .param, .noSuchAttribute, .noSuchClass: "org.freedesktop.DBus.Error.InvalidArgs"
            case .tooLarge, .quotaExceeded: "org.freedesktop.DBus.Error.LimitsExceeded"
            case .notAvailable: "org.freedesktop.DBus.Error.NotSupported"
            default: "org.freedesktop.DBus.Error.Failed"
            }
        self.init(name: name, message: refusal.text)
    }

    static let noSuchObject = BusError(
        name: "org.freedesktop.Secret.Error.NoSuchObject", message: "There is no such object.")
    static let noSession = BusError(
        name: "org.freedesktop.Secret.Error.NoSession",
        message: "No such session of this connection; OpenSession makes one.")
    static let isLocked = BusError(
        name: "org.freedesktop.Secret.Error.IsLocked",
        message: "The collection is locked, and nobody can be asked here; 'chatelaine unlock' opens it.")
    static let noSuchProperty = BusError(
        name: "org.freedesktop.DBus.Error.UnknownProperty", message: "The object has no such property.")
    static let readOnlyProperty = BusError(
        name: "org.freedesktop.DBus.Error.PropertyReadOnly", message: "The property cannot be set.")
}

/// Runs a step that refuses in the broker's terms where clients of the Secret Service want theirs.
func inSecretService<Result: ~Copyable>(_ body: () throws(Refusal) -> Result) throws(BusError) -> Result {
    do throws(Refusal) {
        return try body()
    } catch {
        throw BusError(secretService: error)
    }
}
