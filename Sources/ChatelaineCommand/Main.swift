internal import BrokerHost
internal import Console
internal import SDBus

/// `chatelaine`.
@main enum Main {
    static func main() {
        StandardStreams.forbidCoreDumps()
        if let command = CommandStart(CommandLine.arguments) { command.run() }
        let loop = BrokerActor.shared.loop
        BrokerActor.start {
            loop.stop(code: await Command.run(Array(CommandLine.arguments.dropFirst())).rawValue)
        }
        let code = loop.run()
        ExitStatus.exit(code < 0 ? ExitCode.failed.rawValue : code)
    }
}
