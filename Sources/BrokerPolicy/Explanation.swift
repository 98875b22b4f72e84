public import BrokerModel

/// Why a caller has a group, or has it not: for a person, from the same walk that decides.
public struct Explanation: Sendable, Equatable {
    /// The application that the caller is, if it is one.
    public let application: String?
    /// The trust of the evidence that identified it.
    public let trust: Trust
    /// What was decided. Where the group is in observe mode it is what happens: allow.
    public let decision: Verdict
    /// Sentences, the deciding one among the first; where the group is denied, the last say what to do.
    public let reasons: [String]
    /// `file:line` of the line that decided; nil where no line did.
    public let policy: String?

    /// Whether the caller is let into the group.
    public enum Verdict: String, Sendable {
        case allow
        case deny
    }
}

extension Policy {
    /// Tells why the caller has the group or has it not. It never shows an item, only what the policy's
    /// files say and what is known of the process.
    public func explain(_ facts: PeerFacts, group: AccessGroup) -> Explanation {
        let decision = Decision(facts, by: rules)
        let claim =
            decision.claims.first { $0.group == group && $0.isMet }
            ?? decision.claims.first { $0.group == group }
        let explainer = Explainer(facts: facts, group: group, rules: rules, decision: decision, claim: claim)
        return Explanation(
            application: decision.entitlements.application, trust: decision.trust,
            decision: claim?.isMet == true || decision.observed.contains(group) ? .allow : .deny,
            reasons: explainer.reasons,
            policy: explainer.decidingPlace?.description)
    }
}
