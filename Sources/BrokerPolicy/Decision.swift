import BrokerModel

/// Everything the policy finds about one caller. Entitlements and explanation are both told from it, so
/// that they cannot disagree.
struct Decision: Sendable {
    let identity: Identity
    let isManager: Bool
    let isSandboxed: Bool
    /// Every group that is the caller's, or would be if its evidence were worth more, in the order of
    /// POLICY: granted groups, then private ones.
    let claims: [Claim]
    /// Groups in observe mode, where this caller is let through. A sandbox narrows a caller: what is in one, or
    /// was not shown to be in none, is held to the policy there too, and so is a program that is not known or that
    /// carries others' wishes, which may come out of a sandbox.
    let observed: Set<AccessGroup>

    /// Which application the caller is.
    enum Identity: Sendable {
        case unknown
        case application(Application, Trust)
        /// Applications that match equally well: the caller is nobody.
        case tie([Application])
    }

    /// One group and what the caller has to show for it.
    struct Claim: Sendable {
        let group: AccessGroup
        let basis: Basis
        let trust: Trust
        let required: Trust

        var isMet: Bool { trust >= required }
    }

    /// Why a group could be the caller's.
    enum Basis: Sendable {
        case granted(Application)
        case ownApplication(Application)
        case sandbox
        case executable
    }

    init(_ facts: PeerFacts, by rules: PolicyRules) {
        identity = Self.identity(of: facts, by: rules)
        let paths = facts.executable?.paths ?? []
        isSandboxed = !facts.isShownUnsandboxed
        isManager = facts.isShownUnsandboxed && rules.managers.contains(anyOf: paths)
        claims = Self.claims(of: facts, as: identity, by: rules)
        let isItself = !paths.isEmpty && !rules.carriers.contains(anyOf: paths)
        observed = facts.isShownUnsandboxed && isItself ? rules.observed : []
    }

    private static func identity(of facts: PeerFacts, by rules: PolicyRules) -> Identity {
        // The user's own files hide nothing, so root's applications are looked at first.
        for origin in [PolicyFile.Origin.system, .user] {
            let matches = rules.applications.compactMap { application -> (Application, Trust)? in
                guard application.origin == origin else { return nil }
                return application.match(facts, isSystem: rules.isSystem).map { (application, $0) }
            }
            guard let most = matches.map(\.0.keys.count).max() else { continue }
            let best = matches.filter { $0.0.keys.count == most }
            return best.count == 1 ? .application(best[0].0, best[0].1) : .tie(best.map(\.0))
        }
        return .unknown
    }

    private static func claims(of facts: PeerFacts, as identity: Identity, by rules: PolicyRules) -> [Claim] {
        var claims: [Claim] = []
        func claim(_ group: AccessGroup?, _ basis: Basis, _ trust: Trust, atLeast floor: Trust = .user) {
            guard let group, !claims.contains(where: { $0.group == group }) else { return }
            let required = max(floor, rules.rules(of: group).requireTrust)
            claims.append(Claim(group: group, basis: basis, trust: trust, required: required))
        }
        switch identity {
        case .tie: return []
        case .unknown: break
        case .application(let application, let trust):
            for group in application.groups { claim(group, .granted(application), trust) }
            claim(application.privateGroup, .ownApplication(application), trust)
        }
        if let id = facts.flatpak?.id { claim(AccessGroup("flatpak.\(id)"), .sandbox, facts.flatpakTrust) }
        if let id = facts.snap { claim(AccessGroup("snap.\(id)"), .sandbox, facts.snapTrust) }
        let paths = facts.executable?.paths ?? []
        if !rules.carriers.contains(anyOf: paths), !facts.isInRecognisedSandbox {
            for path in paths {
                claim(AccessGroup("exe.\(path)"), .executable, facts.executableTrust, atLeast: .file)
            }
        }
        return claims
    }

    /// The trust of the evidence that identified the caller.
    var trust: Trust {
        switch identity {
        case .application(_, let trust): trust
        case .tie: .user
        case .unknown: claims.map(\.trust).max() ?? .user
        }
    }

    /// What the gate goes by.
    var entitlements: Entitlements {
        var entitlements = Entitlements(
            trust: trust, groups: claims.filter(\.isMet).map(\.group), isManager: isManager,
            isSandboxed: isSandboxed, beyondTrust: Set(claims.filter { !$0.isMet }.map(\.group)),
            observed: observed)
        switch identity {
        case .unknown: break
        case .tie(let applications): entitlements.source = applications.first?.place.description
        case .application(let application, _):
            entitlements.application = application.id
            entitlements.role = application.role
            entitlements.operations = application.operations
            entitlements.source = application.place.description
        }
        return entitlements
    }
}
