internal import Chatelaine
internal import Console
public import SDBus
internal import Sodium

/// `docker-credential-chatelaine`.
@BrokerActor public enum DockerProgram {
    /// Does what the arguments and standard input say, and gives the exit status. What goes wrong is a line on standard
    /// output, where docker looks for it.
    public static func run(_ arguments: [String]) async -> Int32 {
        do throws(HelperFailure) {
            guard arguments.count == 1 else { throw HelperFailure(usage) }
            switch arguments[0] {
            case "--help": try HelperProcess.write(usage + "\n")
            case "version", "--version":
                try HelperProcess.write("docker-credential-chatelaine (chatelaine) \(Broker.version)\n")
            default: try await perform(arguments[0])
            }
            return 0
        } catch {
            try? HelperProcess.write(error.text + "\n")
            return 1
        }
    }

    private static func perform(_ action: String) async throws(HelperFailure) {
        switch action {
        case "store":
            let credentials = try DockerCredentials(try HelperProcess.readInput(limit: messageBytesMax))
            try await helper().store(credentials)
        case "get":
            let serverURL = try serverURL()
            try HelperProcess.write(try await helper().get(serverURL))
        case "erase":
            let serverURL = try serverURL()
            try await helper().erase(serverURL)
        case "list": try HelperProcess.write(try await helper().list().text + "\n")
        default: throw HelperFailure("there is no such action; " + usage)
        }
    }

    private static func helper() throws(HelperFailure) -> DockerHelper {
        Deadline.endProcess(afterSeconds: HelperProcess.patienceSeconds, tellingOn: .output)
        return DockerHelper(try HelperProcess.connect(to: .user))
    }

    // All of standard input without the white space around it.
    private static func serverURL() throws(HelperFailure) -> String {
        let input = SecretSlice(try HelperProcess.readInput(limit: urlBytesMax)).openText ?? ""
        let url = input.drop(while: \.isWhitespace)
        guard let last = url.lastIndex(where: { !$0.isWhitespace }) else { throw DockerMessage.noServerURL }
        return String(url[...last])
    }

    // Room for a secret as large as one may be, with what docker escapes of it.
    private static let messageBytesMax = 2 << 20
    private static let urlBytesMax = 64 << 10

    private static let usage = "Usage: docker-credential-chatelaine <store|get|erase|list|version>"
}
