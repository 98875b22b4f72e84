public import BrokerModel

/// What a policy grants, as data: for `chatelaine policy check`.
public struct PolicySummary: Sendable, Equatable {
    /// In reading order.
    public let applications: [Application]
    /// Every group that the policy names, by name.
    public let groups: [Group]
    /// The programs of `[Manager]`.
    public let managers: [String]
    /// The patterns of `[Carriers]`.
    public let carriers: [String]
    /// `[SecretService]`, or its defaults.
    public let secretService: SecretServiceRules

    /// One application.
    public struct Application: Sendable, Equatable {
        /// Its id.
        public let id: String
        /// `file:line`
        public let source: String
        /// Whose file it stands in.
        public let origin: PolicyFile.Origin
        /// By key, in a fixed order: each key must match, by any of its values.
        public let matches: [Match]
        /// What it is granted, its default first; its private group comes after.
        public let groups: [AccessGroup]
        /// The most that its matches are worth, which bounds the groups it reaches; nil where nobody matches.
        public let bestTrust: Trust?
        /// Which items it sees.
        public let role: Entitlements.Role
        /// What it may do.
        public let operations: Set<Operation>
    }

    /// One key of an application.
    public struct Match: Sendable, Equatable {
        /// As it stands in the file, without `=`.
        public let key: String
        /// As they stand in the file.
        public let values: [String]
    }

    /// One group.
    public struct Group: Sendable, Equatable {
        /// Its name.
        public let group: AccessGroup
        /// `file:line` of its section; nil where it has none.
        public let source: String?
        /// What it allows.
        public let rules: GroupRules
        /// `file:line` of its `Mode=observe`; nil where the policy is enforced.
        public let observedAt: String?
        /// The ids of the applications that are granted it.
        public let applications: [String]
    }
}

extension Policy {
    /// What the policy grants.
    public var summary: PolicySummary {
        let granted = rules.applications.flatMap(\.groups)
        return PolicySummary(
            applications: rules.applications.map { $0.summary(isSystem: rules.isSystem) },
            groups: Set(granted).union(rules.groups.keys).sorted().map(summary),
            managers: rules.managers.texts, carriers: rules.carriers.texts, secretService: rules.secretService
        )
    }

    private func summary(of group: AccessGroup) -> PolicySummary.Group {
        PolicySummary.Group(
            group: group, source: rules.groups[group]?.place.description, rules: rules.rules(of: group),
            observedAt: rules.observed.contains(group) ? rules.groups[group]?.modePlace.description : nil,
            applications: rules.applications.filter { $0.groups.contains(group) }.map(\.id))
    }
}

extension Application {
    fileprivate func summary(isSystem: Bool) -> PolicySummary.Application {
        PolicySummary.Application(
            id: id, source: place.description, origin: origin,
            matches: conditions.map {
                PolicySummary.Match(key: $0.key.rawValue, values: $0.alternatives.map(\.text))
            },
            groups: groups, bestTrust: conditions.isEmpty ? nil : bestTrust(isSystem: isSystem), role: role,
            operations: operations)
    }
}
