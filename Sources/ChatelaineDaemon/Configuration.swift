internal import BrokerHost
internal import BrokerModel
internal import BrokerPolicy

/// `chatelained.conf`: the policy's syntax, one section `[Broker]`.
struct Configuration: Equatable {
    /// Whether plain sessions are allowed on a bus that others can monitor.
    var allowsPlain = false
    /// Whether an unlock of the session opens what its lock has closed.
    var unlocksWithSession = false
    /// What becomes of `org.freedesktop.secrets` on a session bus.
    var secretService = SecretServiceMode.alone
    /// What locks a keychain beside its owner.
    var lockOn = Set(LockCause.allCases)

    static let standardPath = "/etc/chatelaine/chatelained.conf"

    /// Where the configuration's files are.
    struct Files: Equatable, Sendable {
        /// The administrator's. The standard one may be missing, a named one may not.
        var named: String?
        /// The user's own, which says `SecretService=` and nothing else; nil where there is none to be read.
        var own: String?
    }

    /// Reads the administrator's file, then the user's, whose word counts. Unknown sections and keys are errors, as in the
    /// policy.
    static func load(_ files: Files) throws(PolicyErrors) -> Configuration {
        var configuration = Configuration()
        let path = files.named ?? standardPath
        if files.named != nil || HostFile.exists(path) {
            try configuration.read(file(path, .system))
        }
        if let own = files.own, HostFile.exists(own) { try configuration.read(file(own, .user)) }
        return configuration
    }

    private static func file(
        _ path: String, _ origin: PolicyFile.Origin
    ) throws(PolicyErrors) -> PolicyFile {
        do throws(HostError) {
            let file = try HostFile.read(path, limit: 1 << 20)
            return PolicyFile(path: path, contents: file.bytes, origin: origin)
        } catch {
            throw PolicyErrors(problems: [.init(file: path, line: 1, text: error.reason)])
        }
    }

    mutating func read(_ file: PolicyFile) throws(PolicyErrors) {
        for section in try PolicyText(file).sections {
            guard section.kind == "Broker", section.name.isEmpty else {
                throw Self.problem(file, section.line, "the one section here is [Broker]")
            }
            for entry in section.entries {
                switch (entry.key, entry.value) {
                case ("AllowPlain", let value):
                    allowsPlain = try Self.flag(value, "AllowPlain", file, entry.line)
                case ("UnlockWithSession", let value):
                    unlocksWithSession = try Self.flag(value, "UnlockWithSession", file, entry.line)
                case ("SecretService", let value):
                    guard let mode = SecretServiceMode(rawValue: value) else {
                        throw Self.problem(file, entry.line, "SecretService= is yes, no or auto")
                    }
                    secretService = mode
                case ("LockOn", _) where file.origin == .user:
                    throw Self.problem(file, entry.line, "LockOn= is the administrator's to say")
                case ("LockOn", let words):
                    guard let causes = LockCause.set(from: words) else {
                        throw Self.problem(file, entry.line, "LockOn= is \(LockCause.usage)")
                    }
                    lockOn = causes
                default:
                    throw Self.problem(
                        file, entry.line,
                        "unknown key; this version knows AllowPlain=, UnlockWithSession=, SecretService= and LockOn="
                    )
                }
            }
        }
    }

    // What makes the broker less careful is no program's of the user to say.
    private static func flag(
        _ value: String, _ key: String, _ file: PolicyFile, _ line: Int
    ) throws(PolicyErrors) -> Bool {
        if file.origin == .user { throw problem(file, line, "\(key)= is the administrator's to say") }
        switch value {
        case "yes": return true
        case "no": return false
        default: throw problem(file, line, "\(key)= is yes or no")
        }
    }

    private static func problem(_ file: PolicyFile, _ line: Int, _ text: String) -> PolicyErrors {
        PolicyErrors(problems: [.init(file: file.path, line: line, text: text)])
    }
}
