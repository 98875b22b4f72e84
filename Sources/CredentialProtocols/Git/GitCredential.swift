internal import Sodium

/// What an item keeps of a credential of git's, in the secret alone.
///
/// The form is that of git-credential-libsecret: the password is the first line, which may be empty, and each thing
/// beside it a line of `key=value`. None can hold a newline, so nothing is escaped, and a bare password is itself.
struct GitCredential: Sendable {
    private(set) var password: SecretSlice?
    private(set) var credential: SecretSlice?
    private(set) var refreshToken: SecretSlice?
    /// Seconds since the Unix epoch.
    private(set) var expiry: UInt64?
    private var authType: SecretSlice?

    /// What git wants stored. A time that is no number is none, as git itself has it.
    init(_ message: GitMessage) {
        password = message[.password]
        refreshToken = message[.refreshToken]
        expiry = message[.expiry]?.openText.flatMap { UInt64($0) }
        if let authType = message[.authType], let credential = message[.credential] {
            (self.authType, self.credential) = (authType, credential)
        }
    }

    /// Reads what an item keeps; nil where it is not in this form.
    init?(stored secret: SharedSecret) {
        let whole = SecretSlice(secret)
        guard !whole.contains(0) else { return nil }
        var (first, rest) = whole.split(at: Self.newline) ?? (whole, SecretSlice(secret, 0..<0))
        while rest.count > 0 {
            let (line, after) = rest.split(at: Self.newline) ?? (rest, SecretSlice(secret, 0..<0))
            guard read(line) else { return nil }
            rest = after
        }
        guard (authType == nil) == (credential == nil) else { return nil }
        // A password may be empty; beside another kind of credential an empty line is none.
        if first.count > 0 || credential == nil { password = first }
    }

    private mutating func read(_ line: SecretSlice) -> Bool {
        guard let (key, value) = line.split(at: UInt8(ascii: "=")) else { return false }
        switch key.openText.flatMap({ GitMessage.Key(rawValue: $0) }) {
        case .refreshToken where refreshToken == nil: refreshToken = value
        case .authType where authType == nil: authType = value
        case .credential where credential == nil: credential = value
        case .expiry where expiry == nil:
            guard let seconds = value.openText.flatMap({ UInt64($0) }) else { return false }
            expiry = seconds
        default: return false
        }
        return true
    }

    /// As an item keeps it.
    var stored: Secret {
        var beside = SecretText()
        appendWhatIsBesideThePassword(to: &beside)
        var text = SecretText()
        if let password { text.append(password) }
        if !beside.isEmpty { text.append("\n") }
        text.append(beside)
        return text.secret()
    }

    /// As git is told it. A password whose time is over is left out, as git of today does with it: a refresh token that
    /// is there goes on to the next helper, and git of before 2.41, which knows no times, does not try the password and
    /// then have all of it erased.
    func answer(now seconds: UInt64, withAuthType: Bool) -> SecretText {
        var told = self
        if let expiry, expiry <= seconds { (told.password, told.credential, told.expiry) = (nil, nil, nil) }
        if told.credential == nil || !withAuthType { (told.authType, told.credential) = (nil, nil) }
        var text = SecretText()
        text.append(.password, told.password)
        told.appendWhatIsBesideThePassword(to: &text)
        return text
    }

    private func appendWhatIsBesideThePassword(to text: inout SecretText) {
        text.append(.authType, authType)
        text.append(.credential, credential)
        if let expiry { text.append("\(GitMessage.Key.expiry.rawValue)=\(expiry)\n") }
        text.append(.refreshToken, refreshToken)
    }

    /// Whether both are the same password and the same credential.
    func isSame(as other: GitCredential) -> Bool {
        Self.isSame(password, other.password) && Self.isSame(credential, other.credential)
    }

    /// Whether what this says of password and credential is what the other has.
    func names(_ other: GitCredential) -> Bool {
        (password == nil || Self.isSame(password, other.password))
            && (credential == nil || Self.isSame(credential, other.credential))
    }

    /// What git says of a credential that it was given: git of before 2.41 leaves out the time and the refresh token,
    /// which it does not know, and that does not take them away.
    func keepingWhatIsLeftOut(of other: GitCredential) -> GitCredential {
        var kept = self
        kept.expiry = expiry ?? other.expiry
        kept.refreshToken = refreshToken ?? other.refreshToken
        return kept
    }

    /// Whether both say the same in all.
    func isEqual(to other: GitCredential) -> Bool { stored.isEqual(to: other.stored) }

    private static func isSame(_ one: SecretSlice?, _ other: SecretSlice?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return one.isEqual(to: other)
    }

    private static let newline = UInt8(ascii: "\n")
}

extension SecretText {
    fileprivate mutating func append(_ key: GitMessage.Key, _ value: SecretSlice?) {
        guard let value else { return }
        append("\(key.rawValue)=")
        append(value)
        append("\n")
    }
}
