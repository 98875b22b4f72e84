internal import Sodium

/// What git says to a helper: lines of `key=value` up to an empty line or the end (git-credential(1), INPUT/OUTPUT
/// FORMAT). A value is any bytes but NUL and newline.
struct GitMessage: Sendable {
    private var fields: [String: SecretSlice] = [:]
    /// What git can take in an answer, of what helpers may add to it.
    private(set) var capabilities: Set<String> = []

    /// Of a key that comes again the last one counts, as with git. Keys of lists (`wwwauth[]`, `state[]`) and keys that
    /// are not known are passed over, as the protocol asks of a helper.
    init(_ text: SharedSecret) throws(HelperFailure) {
        for line in Self.lines(text) {
            guard let (key, value) = line.split(at: UInt8(ascii: "=")), let name = key.openText,
                !name.isEmpty, !value.contains(0)
            else { throw HelperFailure("a line of the request is not key=value; it comes from git alone") }
            if name == "capability[]" {
                if let capability = value.openText { capabilities.insert(capability) }
            } else if !name.hasSuffix("[]") {
                fields[name] = value
            }
        }
    }

    subscript(key: Key) -> SecretSlice? { fields[key.rawValue] }

    /// Whether git takes `authtype` and `credential`, in place of a user name and a password.
    var takesAuthType: Bool { capabilities.contains("authtype") }

    /// The keys that mean something to this helper.
    enum Key: String {
        case `protocol`
        case host
        case path
        case username
        case password
        case expiry = "password_expiry_utc"
        case refreshToken = "oauth_refresh_token"
        case authType = "authtype"
        case credential
        case ephemeral
    }

    private static func lines(_ text: SharedSecret) -> [SecretSlice] {
        var lines: [SecretSlice] = []
        var rest = SecretSlice(text)
        while let (line, after) = rest.split(at: UInt8(ascii: "\n")) {
            guard line.count > 0 else { return lines }
            lines.append(line)
            rest = after
        }
        return rest.count > 0 ? lines + [rest] : lines
    }
}
