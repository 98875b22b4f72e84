import BrokerModel

/// What the evidence behind a match is worth.
///
/// Every key of an application must match. The trust of the whole is the weakest of what its keys rest
/// on, so that a further line never raises a caller. Two kinds of evidence only narrow and are left out
/// where others are there: the user id, which each connection has, and a user's unit beside an executable,
/// whose own trust then counts.
enum Evidence: Sendable {
    case worth(Trust)
    /// Anybody can start a user unit of that name.
    case userUnit
    case userID

    /// The trust of evidence that is there all together.
    static func trust(of all: [Evidence], withExecutable: Bool) -> Trust {
        let counted = all.compactMap { evidence -> Trust? in
            switch evidence {
            case .worth(let trust): trust
            case .userUnit: withExecutable ? nil : .user
            case .userID: nil
            }
        }
        return counted.min() ?? .user
    }

    /// Among alternatives the strongest counts: it was there.
    var rank: Trust {
        if case .worth(let trust) = self { trust } else { .user }
    }
}

extension Alternative {
    /// What the caller has to show for this line; nil where it has nothing.
    func evidence(in facts: PeerFacts, isSystem: Bool) -> Evidence? {
        switch test {
        case .executable(let path):
            guard let executable = facts.executable, executable.paths.contains(where: path.isExactly) else {
                return nil
            }
            return .worth(facts.executableTrust)
        case .unit(let glob):
            guard let unit = facts.unit, glob.matches(unit.name) else { return nil }
            return unit.isSystem ? .worth(facts.systemUnitTrust(isSystem: isSystem)) : .userUnit
        case .flatpak(let id):
            guard let flatpak = facts.flatpak, id.isExactly(flatpak.id) else { return nil }
            return .worth(facts.flatpakTrust)
        case .snap(let id): return facts.snap.map(id.isExactly) == true ? .worth(facts.snapTrust) : nil
        case .group(let id):
            guard let id else { return nil }
            let groups = facts.groups.filter { $0.id == id }
            if groups.isEmpty { return nil }
            if groups.contains(where: \.userIsMember) { return .worth(.user) }
            return .worth(isSystem ? .kernel : .file)
        case .user(let id): return facts.userID == id ? .userID : nil
        case .securityLabel(let label):
            guard let found = facts.securityLabel, label.isExactly(found.text) else { return nil }
            return .worth(facts.trust(of: found, isSystem: isSystem))
        }
    }
}

extension Application {
    /// The trust of the match, or nil where a key does not match or there is none.
    func match(_ facts: PeerFacts, isSystem: Bool) -> Trust? {
        guard !conditions.isEmpty, !facts.isInRecognisedSandbox || keys.contains(where: \.namesSandbox)
        else { return nil }
        var found: [Evidence] = []
        for condition in conditions {
            let evidence = condition.alternatives.compactMap { $0.evidence(in: facts, isSystem: isSystem) }
            guard let best = evidence.max(by: { $0.rank < $1.rank }) else { return nil }
            found.append(best)
        }
        let trust = Evidence.trust(of: found, withExecutable: keys.contains(.executable))
        return origin == .user ? .user : trust
    }

    /// The most that any caller's match could be worth.
    func bestTrust(isSystem: Bool) -> Trust {
        if origin == .user { return .user }
        let best = conditions.map { condition -> Evidence in
            switch condition.key {
            case .executable, .flatpak, .snap: .worth(.file)
            case .unit, .group, .securityLabel: .worth(isSystem ? .kernel : .file)
            case .user: .userID
            }
        }
        return Evidence.trust(of: best, withExecutable: keys.contains(.executable))
    }
}

extension String {
    /// Whether both have the same bytes. `==` would take two spellings of one letter for the same name,
    /// which to the kernel are two.
    func isExactly(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension PeerFacts {
    /// Whether a sandbox vouches for the caller.
    var isInRecognisedSandbox: Bool { flatpak != nil || snap != nil }

    /// Whether the caller was shown to live in the reference namespaces, in no sandbox. What could not be
    /// read is not shown.
    var isShownUnsandboxed: Bool { inReferenceNamespaces == true && !isInRecognisedSandbox }

    /// What a unit, a Snap or a process's label is worth at most. An executable and a Flatpak come with a trust
    /// that is bounded already.
    var pinTrust: Trust {
        switch pin {
        case .atConnect: .kernel
        case .late: .file
        case .unproven: .user
        }
    }

    /// What the executable is worth: outside the reference namespaces its folders are not ours, and so
    /// nothing that was seen of it is.
    var executableTrust: Trust {
        guard let executable, inReferenceNamespaces == true else { return .user }
        return min(executable.trust, .file)
    }

    /// What the Flatpak instance is worth.
    var flatpakTrust: Trust { min(flatpak?.trust ?? .user, .file) }

    /// What the Snap instance is worth.
    var snapTrust: Trust { min(.file, pinTrust) }

    /// What a system unit is worth. With a user id of its own only root could put another process there; a
    /// unit that runs as a person or as root shares the id with what that one starts.
    func systemUnitTrust(isSystem: Bool) -> Trust {
        min(isSystem && userIsService ? .kernel : .file, pinTrust)
    }

    /// What a security label is worth. A process that AppArmor does not hold may take on any profile.
    func trust(of label: SecurityLabel, isSystem: Bool) -> Trust {
        switch label.source {
        case .selinux: isSystem ? .kernel : .file
        case .permissiveSELinux: .user
        case .connection: .file
        case .process: min(.file, pinTrust)
        }
    }
}
