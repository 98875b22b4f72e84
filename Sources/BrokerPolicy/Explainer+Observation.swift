import BrokerModel

extension Explainer {
    /// What observe mode makes of the decision: nothing, where the group is not in it.
    var observation: [String] {
        guard let section = rules.groups[group], section.rules.mode == .observe else { return [] }
        let place = "Mode=observe (\(section.modePlace))"
        guard decision.observed.contains(group) else {
            if claim?.isMet == true { return [] }
            return ["\(place) does not count for it: \(exclusion)."]
        }
        if let objection {
            return ["observe: would be denied because \(objection); \(place) lets it in, and logs it."]
        }
        guard isLimited else { return [] }
        return ["observe: what Operations= lacks would be denied; \(place) lets it through, and logs it."]
    }

    private var exclusion: String {
        guard facts.isShownUnsandboxed else { return "it is in a sandbox, or was not shown to be in none" }
        return facts.executable == nil
            ? "its program is not known"
            : "its program is listed in [Carriers], and what it carries may come out of a sandbox"
    }

    private var objection: String? {
        switch (decision.identity, claim) {
        case (_, let claim?) where claim.isMet: nil
        case (_, let claim?):
            "\(group) requires \(claim.required.rawValue) trust and the evidence is worth"
                + " \(claim.trust.rawValue)"
        case (.tie, nil): "two sections match the caller equally well"
        case (.application(let application, _), nil): "\(application.title) is not granted \(group)"
        case (.unknown, nil): "no section that matches the caller grants \(group)"
        }
    }

    private var isLimited: Bool {
        guard case .application(let application, _) = decision.identity else { return false }
        return application.operations.count < Operation.allCases.count
    }
}
