internal import BrokerModel
internal import BrokerPolicy
internal import Console

extension PolicySummary {
    /// What the policy grants, as members of an object.
    var json: [JSON.Member] {
        [
            JSON.Member("Applications", .array(applications.map(\.json))),
            JSON.Member("AccessGroups", .array(groups.map(\.json))),
            JSON.Member("Manager", .strings(managers)), JSON.Member("Carriers", .strings(carriers)),
            JSON.Member(
                "SecretService",
                .object([
                    JSON.Member("Isolation", .string(secretService.isolation.rawValue)),
                    JSON.Member("Unidentified", .string(secretService.unidentified.rawValue)),
                    JSON.Member("Manager", .strings(secretService.managers)),
                    JSON.Member("Portal", .strings(secretService.portals)),
                    JSON.Member("WhenUnlocked", .strings(secretService.whenUnlocked)),
                    JSON.Member("WhenUnlockedSchema", .strings(secretService.whenUnlockedSchemas)),
                ])),
        ]
    }

    /// A paragraph for each application and each group.
    func text(_ style: Style) -> String {
        var paragraphs = applications.map { $0.text(style) } + groups.map { $0.text(style) }
        if !managers.isEmpty { paragraphs.append(Self.list("Administrators", managers, style)) }
        if !carriers.isEmpty { paragraphs.append(Self.list("Carriers", carriers, style)) }
        let whenUnlocked =
            secretService.whenUnlocked.map { "items of \($0)" }
            + secretService.whenUnlockedSchemas.map { "xdg:schema \($0)" }
        if !whenUnlocked.isEmpty {
            paragraphs.append(Self.list("Secret Service, read while unlocked alone", whenUnlocked, style))
        }
        return paragraphs.joined(separator: "\n")
    }

    private static func list(_ title: String, _ entries: [String], _ style: Style) -> String {
        style.apply(.bold, to: title) + "\n" + entries.map { "  \($0.printable)\n" }.joined()
    }
}

extension PolicySummary.Application {
    fileprivate var json: JSON {
        .object([
            JSON.Member("Application", .string(id)), JSON.Member("Policy", .string(source)),
            JSON.Member(
                "Matches", .object(matches.map { JSON.Member($0.key, .strings($0.values)) })),
            JSON.Member("AccessGroups", .strings(groups.map(\.name))),
            JSON.Member("Trust", .string(bestTrust?.rawValue ?? "")),
            JSON.Member("Role", .string(role.rawValue)),
            JSON.Member("Operations", .strings(operationNames)),
        ])
    }

    fileprivate func text(_ style: Style) -> String {
        var fields = Fields()
        fields.add("Matched by", matches.flatMap { match in match.values.map { "\(match.key)=\($0)" } })
        if matches.isEmpty { fields.add("Matched by", "nothing", .middling) }
        fields.add("Groups", groups.map(\.name))
        if let bestTrust { fields.add("Trust", "\(bestTrust.rawValue) at most") }
        if role != .full { fields.add("Role", role.rawValue) }
        if operations.count < Operation.allCases.count {
            fields.add("Operations", operationNames.joined(separator: " "))
        }
        return style.apply(.bold, to: "Application \(id)") + " (\(source.printable))\n"
            + fields.text(style, indent: 2)
    }

    private var operationNames: [String] { Operation.allCases.filter(operations.contains).map(\.rawValue) }
}

extension PolicySummary.Group {
    fileprivate var json: JSON {
        .object([
            JSON.Member("AccessGroup", .string(group.name)), JSON.Member("Policy", .string(source ?? "")),
            JSON.Member("RequireTrust", .string(rules.requireTrust.rawValue)),
            JSON.Member("Applications", .strings(applications)),
            JSON.Member("MaxItems", .number(rules.maxItems)),
            JSON.Member("MaxBytes", .number(rules.maxBytes)),
            JSON.Member("ReuseSeconds", .number(rules.reuseSeconds)),
            JSON.Member("Mode", .string(rules.mode.rawValue)),
            JSON.Member("Accessible", .strings(rules.accessible.map(\.name))),
        ])
    }

    fileprivate func text(_ style: Style) -> String {
        var fields = Fields()
        fields.add("Granted to", applications)
        if applications.isEmpty { fields.add("Granted to", "nobody", .middling) }
        fields.add("Requires", "\(rules.requireTrust.rawValue) trust")
        fields.add("Holds", "\(rules.maxItems) items and \(Self.size(rules.maxBytes)) at most")
        fields.add("Accessible", rules.accessible.map(\.name))
        if rules.reuseSeconds > 0 { fields.add("Reuse", "\(rules.reuseSeconds) s") }
        if rules.mode != .enforce { fields.add("Mode", rules.mode.rawValue, .middling) }
        let place = source.map { " (\($0.printable))" } ?? " (no section: defaults)"
        return style.apply(.bold, to: "Group \(group.name)") + place + "\n" + fields.text(style, indent: 2)
    }

    // As the policy writes it.
    private static func size(_ bytes: UInt64) -> String {
        for (unit, shift) in [("G", UInt64(30)), ("M", 20), ("K", 10)]
        where bytes > 0 && bytes % (1 << shift) == 0 {
            return "\(bytes >> shift)\(unit)"
        }
        return "\(bytes) bytes"
    }
}
