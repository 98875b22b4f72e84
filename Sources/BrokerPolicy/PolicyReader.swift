import BrokerModel

/// Turns files into rules, section by section; what holds between sections is looked at afterwards
/// (``PolicyChecks``).
struct PolicyReader {
    let environment: PolicyEnvironment
    var problems = Problems()
    var rules = PolicyRules()
    private var headers: [String: Place] = [:]

    init(environment: PolicyEnvironment) {
        self.environment = environment
        rules.isSystem = environment.isSystem
    }

    /// The sections there are.
    private enum Kind: String, CaseIterable {
        case application = "Application"
        case accessGroup = "AccessGroup"
        case manager = "Manager"
        case carriers = "Carriers"
        case secretService = "SecretService"

        var hasName: Bool { self == .application || self == .accessGroup }
    }

    mutating func read(_ file: PolicyFile) {
        for section in PolicyText(file, problems: &problems).sections {
            let place = Place(file: file.path, line: section.line)
            do throws(ValueError) {
                try read(section, at: place, of: file)
            } catch {
                problems.add(error.text, at: place)
            }
        }
    }

    private mutating func read(
        _ section: PolicyText.Section, at place: Place, of file: PolicyFile
    ) throws(ValueError) {
        let kind = try kind(of: section, origin: file.origin)
        let header = kind.hasName ? "[\(section.kind) \(section.name.printable)]" : "[\(section.kind)]"
        if let first = headers.updateValue(headers[header] ?? place, forKey: header) {
            throw ValueError("\(header) stands already at \(first).")
        }
        switch kind {
        case .application:
            let id = try Value.applicationID(section.name)
            var application = Application(id: id, place: place, origin: file.origin)
            application.fill(from: section, of: file, in: environment, problems: &problems)
            rules.applications.append(application)
        case .accessGroup:
            var group = GroupSection(group: try Value.group(section.name), place: place)
            group.fill(from: section, of: file, in: environment, problems: &problems)
            rules.groups[group.group] = group
        case .manager: rules.managers.fill(from: section, of: file, in: environment, problems: &problems)
        case .carriers: rules.carriers.fill(from: section, of: file, in: environment, problems: &problems)
        case .secretService:
            rules.secretService.fill(from: section, of: file, in: environment, problems: &problems)
            rules.secretServicePlace = place
        }
    }

    private func kind(
        of section: PolicyText.Section, origin: PolicyFile.Origin
    ) throws(ValueError) -> Kind {
        guard let kind = Kind(rawValue: section.kind) else {
            let kinds = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValueError("\(section.kind.quoted) is no section; there are \(kinds).")
        }
        if origin == .user && kind != .application {
            throw ValueError("A file of the user's own holds [Application] sections alone.")
        }
        if kind.hasName && section.name.isEmpty {
            throw ValueError("[\(section.kind)] needs a name: '[\(section.kind) NAME]'.")
        }
        if !kind.hasName && !section.name.isEmpty { throw ValueError("[\(section.kind)] takes no name.") }
        return kind
    }
}

/// What the files of a policy say, all together.
struct PolicyRules: Sendable {
    /// Whether there is a level above file trust.
    var isSystem = false
    /// In reading order.
    var applications: [Application] = []
    /// What `[AccessGroup]` sections say.
    var groups: [AccessGroup: GroupSection] = [:]
    /// Groups that the user's own files name and root's do not, and their applications' private groups.
    var userGroups: Set<AccessGroup> = []
    var managers = ProgramList(takesPatterns: false)
    var carriers = ProgramList(takesPatterns: true)
    var secretService = SecretServiceRules()
    var secretServicePlace: Place?

    /// The groups whose denials are only logged.
    var observed: Set<AccessGroup> { Set(groups.values.filter { $0.rules.mode == .observe }.map(\.group)) }

    /// The rules of a group. One that only the user's own files name is at user trust, for nothing that
    /// such a file grants reaches further.
    func rules(of group: AccessGroup) -> GroupRules {
        if let section = groups[group] { return section.rules }
        var rules = GroupRules()
        if userGroups.contains(group) { rules.requireTrust = .user }
        return rules
    }
}
