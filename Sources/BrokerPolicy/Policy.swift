public import BrokerModel

/// A policy that was taken: who is which application, which groups it has, and what the groups allow.
///
/// It answers from what it was loaded with and what it is handed, and asks nobody.
public struct Policy: Sendable {
    let rules: PolicyRules

    /// Which secrets of `org.freedesktop.secrets` the section for that front puts into the foreground.
    public let foregroundSecrets: ForegroundSecrets

    /// The policy without a file: nobody is granted anything, and there are no managers and no carriers.
    public static let empty = Policy(rules: PolicyRules())

    init(rules: PolicyRules) {
        self.rules = rules
        foregroundSecrets = rules.foregroundSecrets
    }

    /// Takes a policy whole or not at all.
    ///
    /// The files are in reading order, without those that are hidden or masked (``PolicyFolders``). Each
    /// warning is `file:line: text`, about what is legal and unwise.
    public static func load(
        _ files: [PolicyFile], environment: PolicyEnvironment
    ) throws(PolicyErrors) -> (Policy, warnings: [String]) {
        var reader = PolicyReader(environment: environment)
        for file in files { reader.read(file) }
        var checks = PolicyChecks(rules: reader.rules, environment: environment)
        // A section that was read in part would be blamed for what it says in full.
        if reader.problems.all.isEmpty {
            checks.run()
            reader.problems = checks.errors
        }
        guard reader.problems.all.isEmpty else {
            throw PolicyErrors(problems: reader.problems.sorted(by: files))
        }
        let warnings = checks.warnings.sorted(by: files).map(\.description)
        return (Policy(rules: checks.rules), warnings)
    }

    /// What the policy gives a caller. Facts that are missing give nothing.
    public func entitlements(of facts: PeerFacts) -> Entitlements {
        Decision(facts, by: rules).entitlements
    }

    /// What a group allows; the defaults for one that no section names.
    public func rules(of group: AccessGroup) -> GroupRules { rules.rules(of: group) }

    /// How the front for existing programs treats its callers.
    public var secretService: SecretServiceRules { rules.secretService }

    /// Where the secrets are that the desktop's portal keeps for sandboxed applications: in the first group of the first
    /// application that `Portal=` names. Nil where it names none that there is.
    public var portalGroup: AccessGroup? {
        let portals = secretService.portals.lazy.compactMap { id in
            rules.applications.first { $0.id == id }
        }
        return portals.first.flatMap { $0.groups.first ?? $0.privateGroup }
    }

    /// Every path that a caller's executable is to be compared with, by device and inode: those of the
    /// applications and of `[Manager]`, each once. Carriers are patterns and go by path (``carriers``).
    public var executables: [String] {
        let paths = rules.applications.flatMap { $0[.executable].map(\.text) } + rules.managers.texts
        var seen: Set<String> = []
        return paths.filter { seen.insert($0).inserted }
    }

    /// The patterns of `[Carriers]`: programs that carry others' wishes.
    public var carriers: [String] { rules.carriers.texts }
}
