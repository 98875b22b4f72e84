import BrokerModel

/// What can be seen only when every section was read: contradictions, and what is legal and unwise.
struct PolicyChecks {
    var rules: PolicyRules
    let environment: PolicyEnvironment
    private(set) var errors = Problems()
    private(set) var warnings = Problems()

    init(rules: PolicyRules, environment: PolicyEnvironment) {
        self.rules = rules
        self.environment = environment
    }

    mutating func run() {
        claimUserGroups()
        refuseTies()
        for application in rules.applications {
            warnOfGaps(in: application)
            warnOfExecutables(of: application)
            warnOfNames(in: application)
        }
        warnOfGroups()
        warnOfObservation()
        warnOfSecretService()
    }

    /// A file of the user's own names no group that root's policy names.
    private mutating func claimUserGroups() {
        var rootGroups: [AccessGroup: Place] = rules.groups.mapValues(\.place)
        for application in rules.applications where application.origin == .system {
            for group in application.groups where rootGroups[group] == nil {
                rootGroups[group] = application.place(application.groupsLine)
            }
        }
        for application in rules.applications where application.origin == .user {
            if let own = application.privateGroup { rules.userGroups.insert(own) }
            for group in application.groups {
                guard let place = rootGroups[group] else {
                    rules.userGroups.insert(group)
                    continue
                }
                let text = "AccessGroups=: \(group) belongs to the system's policy (\(place))."
                errors.add(text, at: application.place(application.groupsLine))
            }
        }
    }

    private struct TieKey: Hashable {
        let origin: PolicyFile.Origin
        let keys: [MatchKey]
        let test: Alternative.Test
    }

    /// Two applications with the same keys, and in each of them a line in common, tie for some caller.
    private mutating func refuseTies() {
        var earlier: [TieKey: [Application]] = [:]
        for application in rules.applications {
            guard let first = application.conditions.first else { continue }
            let slots = Set(first.alternatives.filter(\.canMatch).map(\.test)).map {
                TieKey(origin: application.origin, keys: application.keys, test: $0)
            }
            let other = slots.lazy.flatMap { earlier[$0] ?? [] }.first { $0.overlaps(application) }
            if let other {
                let text = "The section matches whom \(other.title) matches, with as many keys: a tie."
                errors.add(text, at: application.place)
            }
            for slot in slots { earlier[slot, default: []].append(application) }
        }
    }

    private mutating func warnOfGaps(in application: Application) {
        if application.conditions.isEmpty {
            let keys = MatchKey.allCases.map { "\($0.rawValue)=" }.joined(separator: ", ")
            warnings.add("The application never matches; it has none of \(keys).", at: application.place)
        }
        if application.groups.isEmpty, !rules.secretService.named.contains(where: { $0.id == application.id })
        {
            warnings.add("The application has no AccessGroups=.", at: application.place)
        }
    }

    private mutating func warnOfExecutables(of application: Application) {
        for line in application[.executable] where rules.carriers.contains(anyOf: [line.text]) {
            let text =
                "Executable=: \(line.text.printable) carries others' wishes: whatever script or command"
                + " the user runs with it is this application."
            warnings.add(text, at: application.place(line.line))
        }
    }

    private mutating func warnOfNames(in application: Application) {
        for line in application[.group] + application[.user] {
            let place = application.place(line.line)
            if !line.canMatch {
                let kind = line.key == .group ? "group" : "user"
                warnings.add("There is no \(kind) \(line.text.quoted); the line matches nobody.", at: place)
            } else if line.key == .group, let group = environment.group(line.text), !group.members.isEmpty {
                let members = group.members.prefix(3).map(\.printable).joined(separator: ", ")
                let rest = group.members.count > 3 ? " and others" : ""
                let text =
                    "Group=: \(line.text.printable) has members (\(members)\(rest)), who can take it on:"
                warnings.add("\(text) for them the match is at user trust.", at: place)
            }
        }
    }

    private mutating func warnOfSecretService() {
        guard let place = rules.secretServicePlace else { return }
        for named in rules.secretService.named {
            guard let text = fault(of: named) else { continue }
            warnings.add("\(named.key.rawValue)=: \(text)", at: Place(file: place.file, line: named.line))
        }
    }

    private func fault(of named: SecretServiceRules.Named) -> String? {
        guard let application = rules.applications.first(where: { $0.id == named.id }) else {
            return "there is no [Application \(named.id)]; nobody is it."
        }
        switch named.key {
        case .manager: return nil
        case .portal: return faultOfPortal(application)
        case .whenUnlocked: return faultOfForeground(application)
        }
    }

    private func faultOfPortal(_ application: Application) -> String? {
        if application.bestTrust(isSystem: rules.isSystem) >= .file { return nil }
        return "the keys of [Application \(application.id)] come to user trust, and file is needed."
    }

    private func faultOfForeground(_ application: Application) -> String? {
        if application.role == .background {
            return "[Application \(application.id)] has Role=background, so it can store nothing there."
        }
        guard let group = application.groups.first else { return nil }
        let others = rules.applications.filter { $0.groups.first == group && $0.id != application.id }
        let meant = Set(rules.secretService.whenUnlocked)
        guard let other = others.first(where: { !meant.contains($0.id) }) else { return nil }
        return "\(group) is where [Application \(other.id)] stores too, whose items are meant as well."
    }
}

extension PolicyChecks {
    private mutating func warnOfObservation() {
        for section in rules.groups.values where section.rules.mode == .observe {
            let text =
                "Mode=observe: \(section.group) is not guarded. Every unsandboxed program that names it is let"
                + " in, and what would be denied is only logged."
            warnings.add(text, at: section.modePlace)
        }
    }

    private mutating func warnOfGroups() {
        var granting: [AccessGroup: [Application]] = [:]
        for application in rules.applications {
            for group in application.groups { granting[group, default: []].append(application) }
        }
        for group in Set(granting.keys).union(rules.groups.keys).sorted() {
            let applications = granting[group] ?? []
            let place =
                rules.groups[group]?.trustPlace
                ?? applications.first.map { $0.place($0.groupsLine) }
            if let place, let text = fault(of: group, grantedTo: applications) {
                warnings.add(text, at: place)
            }
        }
    }

    /// Why nobody can reach a group; nil where somebody can.
    private func fault(of group: AccessGroup, grantedTo applications: [Application]) -> String? {
        let required = rules.rules(of: group).requireTrust
        if required == .kernel && !rules.isSystem {
            return "RequireTrust=kernel admits nobody without --system: \(group) cannot be reached."
        }
        if group.isReserved { return faultOfPrivate(group, required) }
        // Those of whom nothing is known have it on the front for existing programs.
        if group.name == "unidentified" && rules.secretService.unidentified == .share { return nil }
        if applications.isEmpty { return "Nobody can reach \(group): no application is granted it." }
        let best = applications.filter { !$0.conditions.isEmpty }.map {
            $0.bestTrust(isSystem: rules.isSystem)
        }
        guard let most = best.max() else {
            return "Nobody can reach \(group): its applications match nobody."
        }
        if most >= required { return nil }
        return "Nobody can reach \(group): it requires \(required.rawValue) trust, and the keys of the"
            + " applications that are granted it come to \(most.rawValue) trust at most."
    }

    private func faultOfPrivate(_ group: AccessGroup, _ required: Trust) -> String? {
        guard group.name.hasPrefix("app.") else {
            return required > .file ? "Nobody can reach \(group): it is had at file trust." : nil
        }
        let owners = rules.applications.filter { $0.privateGroup == group && !$0.conditions.isEmpty }
        guard let best = owners.map({ $0.bestTrust(isSystem: rules.isSystem) }).max() else {
            return "Nobody can reach \(group): no application has that id."
        }
        return best >= required
            ? nil : "Nobody can reach \(group): its application's keys come to less trust."
    }
}

extension Alternative {
    /// Whether anybody could match: a name that the databases do not have matches nobody.
    fileprivate var canMatch: Bool { test != .group(nil) && test != .user(nil) }
}

extension Application {
    /// Whether some caller matches both, given that both have the same keys.
    fileprivate func overlaps(_ other: Application) -> Bool {
        conditions.allSatisfy { condition in
            let tests = Set(condition.alternatives.filter(\.canMatch).map(\.test))
            return other[condition.key].contains { tests.contains($0.test) }
        }
    }
}
