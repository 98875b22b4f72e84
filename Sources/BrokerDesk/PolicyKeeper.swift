internal import BrokerModel
public import BrokerPolicy
public import SDBus

/// The policy in force, one for the whole broker, and whether a newer one was refused.
@BrokerActor public final class PolicyKeeper {
    /// Reads the policy's files anew, whole or not at all.
    public typealias Load = () async throws(PolicyErrors) -> (policy: Policy, warnings: [String])

    /// What every gate asks.
    public private(set) var policy: Policy
    private(set) var isRefused = false
    private let load: Load

    /// Begins with a policy that was read already.
    public init(_ policy: Policy, load: @escaping Load) {
        self.policy = policy
        self.load = load
    }

    /// Takes the files anew: `adopt` puts the policy in force, at once. Returns the warnings; `PolicyInvalid`.
    func reload(_ adopt: (Policy) -> Void) async throws(Refusal) -> [String] {
        do throws(PolicyErrors) {
            let loaded = try await load()
            policy = loaded.policy
            isRefused = false
            adopt(loaded.policy)
            return loaded.warnings
        } catch {
            isRefused = true
            throw .policyInvalid(lines: error.lines)
        }
    }
}
