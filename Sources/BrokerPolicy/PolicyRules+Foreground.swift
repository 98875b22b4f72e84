import BrokerModel

/// `WhenUnlocked=` and `WhenUnlockedSchema=` of `[SecretService]`.
extension PolicyRules {
    /// Whose items, by group, and which, by schema.
    var foregroundSecrets: ForegroundSecrets {
        let schemas = secretService.foregroundSchemas.map(\.pattern)
        return ForegroundSecrets(groups: Set(foregroundGroups.keys)) { schema in
            schemas.contains { $0.matches(schema) }
        }
    }

    /// The groups that hold the items of an application that is named, each with the line that names it.
    var foregroundGroups: [AccessGroup: Place] {
        guard let section = secretServicePlace else { return [:] }
        var groups: [AccessGroup: Place] = [:]
        for named in secretService.named where named.key == .whenUnlocked {
            for application in applications where application.id == named.id {
                for group in application.ownGroups where groups[group] == nil {
                    groups[group] = Place(file: section.file, line: named.line)
                }
            }
        }
        return groups
    }
}

extension Application {
    /// Where what it stores goes, and its private group.
    var ownGroups: [AccessGroup] { groups.prefix(1) + [privateGroup].compactMap(\.self) }
}
