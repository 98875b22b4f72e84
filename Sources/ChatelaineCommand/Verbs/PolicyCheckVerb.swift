internal import BrokerHost
internal import BrokerPolicy
internal import Chatelaine
internal import Console
internal import SDBus

/// `policy check`: a policy is read without a broker, as the broker would read it.
@BrokerActor enum PolicyCheckVerb {
    static func run(_ context: Context) throws(Failure) {
        let source = context.invocation.operands.first.map(PolicySource.folder) ?? .standard(userFolder: nil)
        let isSystem = context.invocation.endpoint == .system
        switch Result(catching: { () throws(PolicyErrors) in try source.load(isSystem: isSystem) }) {
        case .success(let loaded): try report(loaded.policy.summary, loaded.warnings, context)
        case .failure(let errors): try report(errors, context)
        }
    }

    private static func report(
        _ summary: PolicySummary, _ warnings: [String], _ context: Context
    ) throws(Failure) {
        let problems = [
            JSON.Member("Errors", .array([])), JSON.Member("Warnings", .strings(warnings)),
        ]
        for warning in warnings where !context.invocation.isJSON {
            StandardError.write(line: "warning: \(warning.printable)")
        }
        let text = summary.text(context.style)
        try context.print(.object(problems + summary.json)) { text.isEmpty ? grantsNothing(context) : text }
    }

    private static func grantsNothing(_ context: Context) -> String {
        let folder =
            context.invocation.operands.first?.printable ?? "/{usr/share,run,etc}/chatelaine/policy.d"
        return "The policy in \(folder) has no section, and grants nothing.\n"
    }

    private static func report(_ errors: PolicyErrors, _ context: Context) throws(Failure) {
        if context.invocation.isJSON {
            try Streams.write(
                JSON.object([
                    JSON.Member("Errors", .strings(errors.lines)), JSON.Member("Warnings", .array([])),
                ]).text + "\n")
        } else {
            for line in errors.lines { StandardError.write(line: "error: \(line.printable)") }
        }
        let count = errors.lines.count == 1 ? "an error" : "\(errors.lines.count) errors"
        throw Failure(.failed, "the policy has \(count), and a broker would refuse it whole")
    }
}
