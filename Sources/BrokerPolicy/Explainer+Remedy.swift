import BrokerModel

extension Explainer {
    /// Why the caller's evidence is worth no more.
    func weaknesses(of claim: Decision.Claim) -> [String] {
        guard case .application(let application, let trust) = decision.identity, claim.basis.isOfApplication
        else { return claim.trust == .user ? [weaknessOfUserTrust] : [] }
        if application.origin == .user {
            return ["\(application.place.file.printable) is the user's own file, which grants at user trust."]
        }
        var reasons = application.conditions.flatMap(\.alternatives).compactMap { line -> String? in
            switch (line.key, line.evidence(in: facts, isSystem: rules.isSystem)) {
            case (.executable, .worth(.user)) where trust == .user: executableWeakness
            case (.flatpak, .worth(.user)), (.snap, .worth(.user)), (.unit, .worth(.user)),
                (.securityLabel, .worth(.user)):
                "\(line.shown): \(weakness(of: line.key))"
            case (.group, .worth(.user)):
                "\(line.shown): the user is a member of the group and could have taken it on."
            case (.unit, .userUnit) where application[.executable].isEmpty:
                "\(line.shown): anybody can start a user unit of that name; it needs Executable= beside it."
            case (.unit, .worth(.file)) where claim.required == .kernel && rules.isSystem:
                "\(line.shown) is worth file trust: \(unitShortfall)."
            case (_, .worth(.file)) where claim.required == .kernel:
                "\(line.shown) is worth file trust at most."
            default: nil
            }
        }
        if application.keys == [.user] { reasons.append("Every process of the user has its user id.") }
        if claim.required == .kernel && !rules.isSystem {
            reasons.append("Without --system nothing is worth kernel trust.")
        }
        return reasons
    }

    private static let pinWeakness =
        "The connection is older than the broker, so nothing shows that the process was there first and what"
        + " was read of it proves little; it counts when the program connects again."

    /// Why a private group's evidence is worth no more.
    private var weaknessOfUserTrust: String {
        facts.flatpak == nil ? executableWeakness : weakness(of: .flatpak)
    }

    /// Why evidence that is not the program's file is worth `user` trust.
    private func weakness(of key: MatchKey) -> String {
        if key == .securityLabel, facts.securityLabel?.source == .permissiveSELinux {
            return "SELinux only logs (setenforce 0), so any process may give itself that label."
        }
        guard key == .flatpak, facts.pin != .unproven else { return Self.pinWeakness }
        return "The application or its runtime is not root's alone to write: its user could have built it."
    }

    /// Why a system unit has not the trust that one with a user id of its own has.
    private var unitShortfall: String {
        facts.userIsService
            ? "the bus named its process by number alone"
            : "its user id \(facts.userID) is not one of the system's, so other processes have it too"
    }

    private var executableWeakness: String {
        if facts.pin == .unproven, facts.executable != nil { return Self.pinWeakness }
        let path = facts.executable?.paths.first?.printable ?? "the program"
        switch facts.inReferenceNamespaces {
        case nil:
            return "The caller's namespaces could not be read, so what was seen of \(path) proves little."
        case false?: return "The caller has namespaces of its own, so what was seen of \(path) proves little."
        case true?:
            return
                "\(path) or a folder above it is not root's alone to write, or lies on a nosuid file system:"
                + " a program of the user could stand in its place."
        }
    }

    /// What a person does to give the caller the group.
    var remedy: String {
        switch (decision.identity, claim) {
        case (.tie, _): "To end the tie, give one of the sections a further key, then \(Self.reload)."
        case (_, let claim?): remedy(forUnmet: claim)
        case _ where group.isReserved:
            "No policy grants a private group; grant a group with a name of its own to all who share items."
        case (.application(let application, _), nil) where application.groups.isEmpty:
            "To grant it, add 'AccessGroups=\(group)' to \(application.title), then \(Self.reload)."
        case (.application(let application, _), nil):
            "To grant it, add '\(group)' to AccessGroups= at \(application.place(application.groupsLine)),"
                + " then \(Self.reload)."
        case (.unknown, nil): remedyForUnknown
        }
    }

    private static let reload = "reload the policy ('chatelaine policy reload')"

    private func remedy(forUnmet claim: Decision.Claim) -> String {
        switch claim.required {
        case .kernel:
            "For kernel trust, under --system, install the program set-group-id to a group without members"
                + " and match it by Group= alone; or lower RequireTrust= of [AccessGroup \(group)]."
        case .file where claim.basis.isOfApplication, .user:
            "Match the application by evidence that is worth \(claim.required.rawValue) trust, such as a"
                + " program installed by root; or say RequireTrust=user in [AccessGroup \(group)],"
                + " which every process of the user can reach. Then \(Self.reload)."
        case .file: "Install the program as root, where nobody else can write it."
        }
    }

    private var remedyForUnknown: String {
        let start = "To give it the group, add a file such as /etc/chatelaine/policy.d/60-local.conf with"
        let lines = "[Application NAME], \(identifyingLine), AccessGroups=\(group)"
        let trust =
            neededTrust == .user
            ? ", and [AccessGroup \(group)], RequireTrust=user since its own user could have written it" : ""
        return "\(start) the lines \(lines)\(trust); then \(Self.reload)."
    }

    private var isCarrier: Bool { rules.carriers.contains(anyOf: facts.executable?.paths ?? []) }

    /// The line that would match the caller best.
    private var identifyingLine: String {
        if let id = facts.flatpak?.id { return "Flatpak=\(id.printable)" }
        if let id = facts.snap { return "Snap=\(id.printable)" }
        if let unit = facts.unit, unit.isSystem { return "Unit=\(unit.name.printable)" }
        if let path = facts.executable?.paths.first, !isCarrier { return "Executable=\(path.printable)" }
        return "Executable=PATH of a program of its own"
    }

    private var neededTrust: Trust {
        if facts.flatpak != nil { return facts.flatpakTrust }
        if facts.snap != nil || facts.unit?.isSystem == true { return min(.file, facts.pinTrust) }
        if isCarrier { return .file }
        return facts.executable == nil ? .file : facts.executableTrust
    }
}

extension Decision.Basis {
    /// Whether the claim rests on what matched the application.
    fileprivate var isOfApplication: Bool {
        switch self {
        case .granted, .ownApplication: true
        case .sandbox, .executable: false
        }
    }
}
