internal import BrokerHost
internal import BrokerPolicy

/// `chatelained.conf`: the policy's syntax, one section `[Broker]`.
struct Configuration: Equatable {
    /// Whether plain sessions are allowed on a bus that others can monitor.
    var allowsPlain = false
    /// Whether the broker offers `org.freedesktop.secrets` on a session bus.
    var offersSecretService = true

    static let standardPath = "/etc/chatelaine/chatelained.conf"

    /// Reads a file; the standard one may be missing, a named one may not. Unknown sections and keys are
    /// errors, as in the policy.
    static func load(_ named: String?) throws(PolicyErrors) -> Configuration {
        let path = named ?? standardPath
        if named == nil && !HostFile.exists(path) { return Configuration() }
        let file: HostFile
        do throws(HostError) {
            file = try HostFile.read(path, limit: 1 << 20)
        } catch {
            throw PolicyErrors(problems: [.init(file: path, line: 1, text: error.reason)])
        }
        return try parse(PolicyFile(path: path, contents: file.bytes, origin: .system))
    }

    static func parse(_ file: PolicyFile) throws(PolicyErrors) -> Configuration {
        var configuration = Configuration()
        for section in try PolicyText(file).sections {
            guard section.kind == "Broker", section.name.isEmpty else {
                throw problem(file, section.line, "the one section here is [Broker]")
            }
            for entry in section.entries {
                switch (entry.key, entry.value) {
                case ("AllowPlain", "yes"): configuration.allowsPlain = true
                case ("AllowPlain", "no"): configuration.allowsPlain = false
                case ("SecretService", "yes"): configuration.offersSecretService = true
                case ("SecretService", "no"): configuration.offersSecretService = false
                case ("AllowPlain", _), ("SecretService", _):
                    throw problem(file, entry.line, "\(entry.key)= is yes or no")
                default:
                    throw problem(
                        file, entry.line, "unknown key; this version knows AllowPlain= and SecretService=")
                }
            }
        }
        return configuration
    }

    private static func problem(_ file: PolicyFile, _ line: Int, _ text: String) -> PolicyErrors {
        PolicyErrors(problems: [.init(file: file.path, line: line, text: text)])
    }
}
