internal import BrokerHost
internal import BrokerPolicy
internal import Chatelaine

/// What the doctor finds in the policy's files, as the broker would read them now.
enum PolicyExamination {
    private static let subject = "policy files"

    static func findings(_ source: PolicySource, isSystem: Bool) -> [Finding] {
        switch Result(catching: { () throws(PolicyErrors) in try source.load(isSystem: isSystem) }) {
        case .success(let loaded): return findings(loaded.policy.summary, loaded.warnings)
        case .failure(let errors):
            let more = errors.lines.count > 1 ? " (and \(errors.lines.count - 1) more)" : ""
            return [
                Finding(
                    subject, .wrong, (errors.lines.first ?? "cannot be read") + more,
                    advice: "Mend it; the broker keeps its old policy, and does not start with this one.")
            ]
        }
    }

    private static func findings(_ summary: PolicySummary, _ warnings: [String]) -> [Finding] {
        var findings: [Finding] = []
        var rest = warnings
        for group in summary.groups {
            guard let place = group.observedAt else { continue }
            rest.removeAll { $0.hasPrefix("\(place): Mode=observe: ") }
            findings.append(
                Finding(
                    subject, .wrong, "\(place): \(group.group) is in observe mode: nothing guards it",
                    advice:
                        "See journalctl -t chatelained CHATELAINE_DECISION=observe, grant what is missing,"
                        + " then say Mode=enforce and reload."))
        }
        for warning in rest {
            findings.append(
                Finding(
                    subject, .weak, warning, advice: "Mend or remove the line; chatelaine policy reload"))
        }
        if !findings.isEmpty { return findings }
        let (applications, groups) = (summary.applications.count, summary.groups.count)
        return [
            Finding(
                subject, .good,
                "\(applications == 1 ? "one application" : "\(applications) applications"),"
                    + " \(groups == 1 ? "one group" : "\(groups) groups"), nothing to warn of")
        ]
    }
}

extension PolicySource {
    /// Where a broker of that command line reads its policy.
    init(ofBroker arguments: [String]) {
        let folder = BrokerArguments.value(of: "--policy", in: arguments)
        let readsOwn = arguments.contains("--user-policy")
        let own = readsOwn ? HostEnvironment.xdgFolder("XDG_CONFIG_HOME", fallback: ".config") : nil
        self = folder.map(PolicySource.folder) ?? .standard(userFolder: own.map { $0 + "/policy.d" })
    }
}
