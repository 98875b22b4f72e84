internal import BrokerBus
internal import BrokerHost
internal import SDBus

/// `chatelained`.
@main enum Main {
    static func main() {
        switch parse() {
        case .help: print(Options.usage)
        case .version: print("chatelained \(Contract.version)")
        case .run(let options): run(options)
        }
    }

    private static func parse() -> Options.Request {
        do throws(Options.Mistake) {
            return try Options.parse(Array(CommandLine.arguments.dropFirst()))
        } catch {
            StandardError.write(line: "chatelained: \(error.text); see chatelained --help")
            ExitStatus.exit(ExitStatus.usage)
        }
    }

    private static func run(_ options: Options) {
        guard ServiceProcess.harden() else {
            StandardError.write(line: "chatelained: the process could not be closed to dumps")
            ExitStatus.exit(ExitStatus.systemError)
        }
        ServiceProcess.keepHeapSmall()
        ServiceProcess.raiseDescriptorLimit(to: 16_384)
        let loop = BrokerActor.shared.loop
        BrokerActor.start {
            do throws(Daemon.Failure) {
                try await Daemon.start(options)
            } catch {
                for line in error.lines { StandardError.write(line: "chatelained: \(line)") }
                loop.stop(code: error.status)
            }
        }
        ExitStatus.exit(loop.run())
    }
}
