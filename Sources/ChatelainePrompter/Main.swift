internal import BrokerHost
internal import Chatelaine
internal import Console
internal import SDBus

/// `chatelaine-prompter`.
@main enum Main {
    static func main() {
        if let command = CommandStart(CommandLine.arguments) { command.run() }
        var arguments = CommandLine.arguments.dropFirst()
        var pinentry: String?
        while let argument = arguments.popFirst() {
            switch argument {
            case "--help": return print(usage)
            case "--version": return print("chatelaine-prompter \(Broker.version)")
            case "--pinentry":
                guard let path = arguments.popFirst(), path.hasPrefix("/") else {
                    end("--pinentry takes the whole path of a program", ExitStatus.usage)
                }
                pinentry = path
            default: end("no option is called so; see chatelaine-prompter --help", ExitStatus.usage)
            }
        }
        run(pinentry)
    }

    private static func run(_ pinentry: String?) -> Never {
        guard ServiceProcess.harden() else {
            end("the process could not be closed to dumps", ExitStatus.systemError)
        }
        let loop = BrokerActor.shared.loop
        let task = BrokerActor.start { () -> PrompterService? in
            do throws(BusError) {
                let service = PrompterService(try Connection.openUser(), pinentry: pinentry)
                try await service.start()
                return service
            } catch .nameTaken {
                end("another prompter is there already", ExitStatus.unavailable)
            } catch {
                end("the session bus cannot be reached: \(error.message)", ExitStatus.unavailable)
            }
        }
        let status = loop.run()
        withExtendedLifetime(task) { ExitStatus.exit(status < 0 ? ExitStatus.systemError : status) }
    }

    private static func end(_ problem: String, _ status: Int32) -> Never {
        StandardError.write(line: "chatelaine-prompter: \(problem)")
        ExitStatus.exit(status)
    }

    private static let usage = """
        usage: chatelaine-prompter [--pinentry PROGRAM]
               chatelaine-prompter --help | --version

        Asks for the passcode when the credential broker wants it asked. The session bus starts it;
        from a terminal it asks there, until it is ended.

          --pinentry PROGRAM   the program that shows the dialog, by its whole path; without it, pinentry
        """
}
