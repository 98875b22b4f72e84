import BrokerModel

/// Tells a decision about one group in words. It decides nothing.
struct Explainer {
    let facts: PeerFacts
    let group: AccessGroup
    let rules: PolicyRules
    let decision: Decision
    /// The caller's claim to the group, met or not.
    let claim: Decision.Claim?

    var reasons: [String] {
        var reasons = [identity]
        if let claim {
            reasons.append(sentence(of: claim))
            reasons += claim.isMet ? limits + foreground : weaknesses(of: claim)
        } else {
            reasons += absence + nearMisses
        }
        reasons += observation
        if claim?.isMet != true { reasons.append(remedy) }
        return reasons
    }

    /// The line that decided: what grants, what requires more, or what made the caller nobody.
    var decidingPlace: Place? {
        if claim?.isMet != true && decision.observed.contains(group) { return rules.groups[group]?.modePlace }
        if let claim, !claim.isMet, let section = rules.groups[group] { return section.trustPlace }
        switch (decision.identity, claim?.basis) {
        case (.tie(let applications), _): return applications.first?.place
        case (_, .granted(let application)): return application.place(application.groupsLine)
        case (_, .ownApplication(let application)): return application.place
        case (_, .sandbox), (_, .executable), (.unknown, nil): return nil
        case (.application(let application, _), nil): return application.place(application.groupsLine)
        }
    }

    private var identity: String {
        switch decision.identity {
        case .unknown: return "No [Application] section matches the caller. Known of it: \(known)."
        case .tie(let applications):
            let titles = applications.map(\.title).joined(separator: " and ")
            return "The caller matches \(titles) equally well, so it is nobody and has no group."
        case .application(let application, let trust):
            let lines = application.conditions.flatMap(\.alternatives).filter {
                $0.evidence(in: facts, isSystem: rules.isSystem) != nil
            }
            let matched = lines.map { "\($0.shown) (line \($0.line))" }.joined(separator: " and ")
            return "The caller is \(application.title) at \(trust.rawValue) trust: \(matched) matched."
        }
    }

    private func sentence(of claim: Decision.Claim) -> String {
        let requirement = "requires \(claim.required.rawValue) trust (\(requirementPlace))"
        let basis =
            switch claim.basis {
            case .granted(let application): "\(application.place(application.groupsLine)) grants \(group)"
            case .ownApplication: "\(group) is the application's private group"
            case .sandbox: "\(group) is the private group of the caller's sandbox"
            case .executable: "\(group) is the private group of the caller's program"
            }
        if claim.isMet { return "\(basis), which \(requirement)." }
        return "\(basis), but it \(requirement), and the caller's evidence is worth \(claim.trust.rawValue)."
    }

    private var requirementPlace: String {
        if let section = rules.groups[group] { return section.trustPlace.description }
        return rules.userGroups.contains(group) ? "as the user's own files do" : "the default"
    }

    /// What the application's other keys take away again.
    private var limits: [String] {
        guard case .application(let application, _) = decision.identity else { return [] }
        var limits: [String] = []
        if application.role == .background {
            limits.append("Role=background: foreground items are absent to it, whatever the lock state.")
        }
        if application.operations.count < Operation.allCases.count {
            let words = Operation.allCases.filter(application.operations.contains).map(\.rawValue)
            limits.append("Operations= limits it to \(words.joined(separator: ", ")).")
        }
        return limits
    }

    /// Why there is no claim to the group at all.
    private var absence: [String] {
        var absence: [String] = []
        if case .application(let application, _) = decision.identity, !group.isReserved {
            absence.append("\(application.title) is not granted \(group).")
        }
        if group.isReserved {
            absence.append("\(group) is a private group: it follows from evidence, and this caller has none.")
        }
        if case .unknown = decision.identity {
            if rules.carriers.contains(anyOf: facts.executable?.paths ?? []) {
                absence.append("Its program is listed in [Carriers], so it has no private group of its own.")
            } else if decision.claims.allSatisfy({ !$0.isMet }) {
                absence.append("A caller of whom nothing but the user id counts has no group at all.")
            }
        }
        return absence
    }

    /// Applications that are granted the group, and what the caller lacks to be one of them.
    private var nearMisses: [String] {
        guard case .unknown = decision.identity else { return [] }
        return rules.applications.filter { $0.groups.contains(group) }.prefix(Self.nearMissesMax).map {
            "\($0.title) is granted it; \(lack(of: $0))."
        }
    }

    private static let nearMissesMax = 4

    private func lack(of application: Application) -> String {
        if application.conditions.isEmpty { return "it has no key that could match" }
        if facts.isInRecognisedSandbox && !application.keys.contains(where: \.namesSandbox) {
            return "it does not name the sandbox that the caller is in"
        }
        let missing = application.conditions.filter { condition in
            condition.alternatives.allSatisfy { $0.evidence(in: facts, isSystem: rules.isSystem) == nil }
        }
        let lines = missing.map { condition in
            let more = condition.alternatives.count - 1
            let shown = condition.alternatives[0].shown
            return more > 0 ? "\(shown) (nor \(more) more)" : shown
        }
        return "the caller does not match \(lines.joined(separator: ", "))"
    }

    /// The facts that there are.
    private var known: String {
        var known: [String] = []
        if let executable = facts.executable, let path = executable.paths.first {
            known.append("its program \(path.printable), at \(facts.executableTrust.rawValue) trust")
        }
        if let id = facts.flatpak?.id {
            known.append("Flatpak \(id.printable), at \(facts.flatpakTrust.rawValue) trust")
        }
        if let id = facts.snap { known.append("Snap \(id.printable)") }
        if let unit = facts.unit {
            known.append("\(unit.isSystem ? "system" : "user") unit \(unit.name.printable)")
        }
        if let label = facts.securityLabel { known.append("security label \(label.text.printable)") }
        known.append("user id \(facts.userID)")
        return known.joined(separator: "; ")
    }
}

extension Alternative {
    /// The line as it was written.
    var shown: String { "\(key.rawValue)=\(text.printable)" }
}
