import BrokerModel
import BrokerPolicy
import Testing

/// Thousands of broken policies from a fixed seed. Whatever comes in, the answer is a policy or errors
/// that name a line which is there.
struct MutationTests {
    private static let tokens = [
        "[", "]", "=", "#", " ", "\t", "\r", "\n", "\0", "*", "?", "/", "..", "[Application x]",
        "[AccessGroup g]",
        "Executable=/a", "Unit=", "Group=0", "User=4294967296", "AccessGroups=g g", "RequireTrust=kernel",
        "MaxBytes=99999999999999999999G", "\u{feff}", "\u{202e}", "[Manager]", "[SecretService]", "é",
    ]

    private static func mutated(_ bytes: [UInt8], _ generator: inout SplitMix) -> [UInt8] {
        var bytes = bytes
        for _ in 0...Int.random(in: 0..<6, using: &generator) {
            let at = Int.random(in: 0...bytes.count, using: &generator)
            let end = min(bytes.count, at + Int.random(in: 0..<40, using: &generator))
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: at)
            case 1: bytes.removeSubrange(at..<end)
            case 2: bytes.insert(contentsOf: bytes[at..<end], at: at)
            case 3 where at < bytes.count: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            default:
                let token = tokens[Int.random(in: 0..<tokens.count, using: &generator)]
                bytes.insert(contentsOf: Array(token.utf8), at: at)
            }
        }
        return bytes
    }

    @Test(arguments: Vector.all) func aBrokenPolicyIsTakenOrToldByItsLines(_ vector: Vector) throws {
        var generator = SplitMix(state: 0x5eed)
        for _ in 0..<400 {
            let files = vector.files.map { file in
                let contents = Self.mutated(file.contents, &generator)
                return PolicyFile(path: file.path, contents: contents, origin: file.origin)
            }
            check(files, vector.environment, vector.callers.values.map { $0 })
        }
    }

    private func check(_ files: [PolicyFile], _ environment: PolicyEnvironment, _ callers: [PeerFacts]) {
        do throws(PolicyErrors) {
            let (policy, warnings) = try Policy.load(files, environment: environment)
            #expect(warnings.allSatisfy { !$0.contains("\n") })
            for facts in callers { check(policy, facts) }
        } catch {
            #expect(!error.problems.isEmpty)
            for problem in error.problems {
                let file = files.first { $0.path == problem.file }
                let lines = 1 + (file?.contents.count { $0 == 0x0a } ?? -1)
                #expect((1...max(lines, 1)).contains(problem.line) && lines > 0, "\(problem)")
                #expect(problem.description.hasPrefix("\(problem.file):\(problem.line): "))
                #expect(!problem.description.contains("\n"))
            }
        }
    }

    /// What holds of every policy and every caller.
    private func check(_ policy: Policy, _ facts: PeerFacts) {
        let entitlements = policy.entitlements(of: facts)
        #expect(Set(entitlements.groups).count == entitlements.groups.count)
        #expect(entitlements.application != nil || entitlements.groups.allSatisfy(\.isReserved))
        #expect(!entitlements.isManager || !entitlements.isSandboxed)
        #expect(entitlements.observed.isEmpty || !entitlements.isSandboxed)
        #expect(entitlements.observed.allSatisfy { !$0.isReserved })
        for group in entitlements.groups where !group.isReserved {
            #expect(policy.rules(of: group).requireTrust <= entitlements.trust)
        }
        for group in policy.summary.groups.map(\.group) {
            let allowed = policy.explain(facts, group: group).decision == .allow
            #expect(
                allowed == (entitlements.groups.contains(group) || entitlements.observed.contains(group)))
        }
    }
}

/// A small generator with a fixed seed: a failure is the same failure tomorrow.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return value ^ (value >> 31)
    }
}
