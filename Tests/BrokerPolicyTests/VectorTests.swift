import BrokerModel
import BrokerPolicy
import Testing

/// Every vector goes through every reader of the policy: load, entitlements, explanation, summary.
struct VectorTests {
    @Test func thereAreVectorsAndEachCanBeRead() throws {
        #expect(try Vector.load().count > 20)
        #expect(Vector.all.count == (try Vector.load().count))
    }

    @Test(arguments: Vector.all) func aVectorIsTakenOrRefusedAsItSays(_ vector: Vector) {
        do throws(PolicyErrors) {
            let (_, warnings) = try Policy.load(vector.files, environment: vector.environment)
            #expect(vector.isTaken, "taken")
            #expect(warnings == vector.warnings)
        } catch {
            #expect(!vector.isTaken, "refused: \(error.lines)")
            #expect(error.lines == vector.errors)
        }
    }

    @Test(arguments: Vector.all.filter(\.isTaken)) func everyCallerGetsWhatTheVectorSays(_ vector: Vector)
        throws
    {
        let (policy, _) = try Policy.load(vector.files, environment: vector.environment)
        for check in vector.checks {
            let facts = try vector.callers[check.caller].required(check.caller)
            let found = try answer(to: check, of: facts, by: policy)
            #expect(found == check.value, "\(check.kind) \(check.caller)")
        }
    }

    /// The policy's own answer, in the words of the vector.
    private func answer(to check: Vector.Check, of facts: PeerFacts, by policy: Policy) throws -> String {
        let entitlements = policy.entitlements(of: facts)
        switch check.kind {
        case "groups": return entitlements.groups.map(\.name).joined(separator: " ")
        case "trust": return entitlements.trust.rawValue
        case "is": return entitlements.application ?? ""
        case "role": return entitlements.role.rawValue
        case "operations":
            return Operation.allCases.filter(entitlements.operations.contains).map(\.rawValue)
                .joined(separator: " ")
        case "manager": return entitlements.isManager ? "yes" : "no"
        case "observed": return entitlements.observed.sorted().map(\.name).joined(separator: " ")
        case "sandboxed": return entitlements.isSandboxed ? "yes" : "no"
        default:
            let name = check.value.split(separator: " ")[0]
            let explanation = policy.explain(
                facts, group: try AccessGroup(String(name)).required(check.value))
            let verdict = explanation.decision == .allow ? "allow" : "deny"
            return verdict == check.kind ? "\(name) \(explanation.policy ?? "-")" : verdict
        }
    }

    @Test(arguments: Vector.all.filter(\.isTaken))
    func anExplanationAgreesWithTheEntitlements(_ vector: Vector) throws {
        let (policy, _) = try Policy.load(vector.files, environment: vector.environment)
        for facts in vector.callers.values {
            let entitlements = policy.entitlements(of: facts)
            for group in policy.summary.groups.map(\.group) + entitlements.groups {
                let explanation = policy.explain(facts, group: group)
                let isLetIn =
                    entitlements.groups.contains(group) || entitlements.observed.contains(group)
                #expect((explanation.decision == .allow) == isLetIn)
                #expect(explanation.application == entitlements.application)
                #expect(explanation.trust == entitlements.trust)
                #expect(explanation.reasons.allSatisfy { $0.hasSuffix(".") && !$0.contains("\n") })
            }
        }
    }

    @Test(arguments: Vector.all.filter(\.isTaken)) func aSummaryNamesOnlyWhatTheTextNames(_ vector: Vector)
        throws
    {
        let (policy, _) = try Policy.load(vector.files, environment: vector.environment)
        let text = vector.files.map { String(decoding: $0.contents, as: UTF8.self) }.joined(separator: "\n")
        let words = Set(text.split { " =]\t\n".contains($0) }.map(String.init))
        for group in policy.summary.groups { #expect(words.contains(group.group.name)) }
        for application in policy.summary.applications {
            #expect(words.contains(application.id))
            #expect(application.groups.allSatisfy { !$0.isReserved && words.contains($0.name) })
        }
        #expect(policy.executables.allSatisfy(text.contains))
    }
}
