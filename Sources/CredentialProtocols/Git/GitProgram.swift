internal import BrokerHost
internal import Chatelaine
internal import Console
public import SDBus

/// `git-credential-chatelaine`.
@BrokerActor public enum GitProgram {
    /// Does what the arguments and standard input say, and gives the exit status.
    public static func run(_ arguments: [String]) async -> Int32 {
        do throws(HelperFailure) {
            switch try GitArguments.parse(arguments) {
            case .help: try HelperProcess.write(GitArguments.usage)
            case .version: try HelperProcess.write("git-credential-chatelaine \(Broker.version)\n")
            case .capability: try HelperProcess.write("version 0\ncapability authtype\n")
            // git says of helpers that they pass over what a later git may ask of them.
            case .unknown: break
            case .perform(let operation, let options): try await perform(operation, options)
            }
            return 0
        } catch {
            StandardError.write(line: "git-credential-chatelaine: \(error.text)")
            return 1
        }
    }

    private static func perform(
        _ operation: GitHelper.Operation, _ options: GitArguments.Options
    ) async throws(HelperFailure) {
        let message = try GitMessage(try HelperProcess.readInput(limit: messageBytesMax))
        Deadline.endProcess(afterSeconds: options.timeoutSeconds, tellingOn: .errors)
        let broker = try HelperProcess.connect(to: options.endpoint)
        let helper = GitHelper(broker, group: options.group, now: HostEnvironment.now / 1_000_000)
        let answer = try await helper.perform(operation, message)
        try HelperProcess.write(answer.secret())
    }

    // Room for a password and a refresh token that are as large as a secret may be together.
    private static let messageBytesMax = 2 << 20
}
