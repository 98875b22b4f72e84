internal import Sodium

/// `chatelaine-pam`: takes the password that somebody logs in with to the broker of that user.
///
/// PAM waits for this program, and a login must not. So it starts itself once more, in a session of its own and with the
/// same standard input, and only that process ever reads the password; a log-in goes on at once, a change of password
/// waits for the answer, for a few seconds at most. Whatever happens, PAM hears that all is well.
@main enum Main {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch arguments.first {
        case "--help": print(Options.usage)
        case "--version": print("chatelaine-pam \(Options.version)")
        case Options.handOver: handOver(Array(arguments.dropFirst()))
        default: front(arguments)
        }
    }

    private static func front(_ arguments: [String]) {
        guard let login = Login.current, let child = OwnProcess.startAgain(Options.handOver, arguments) else {
            return OwnProcess.discardInput()
        }
        if login.isChange { OwnProcess.await(child) }
    }

    private static func handOver(_ arguments: [String]) -> Never {
        guard OwnProcess.harden() else { OwnProcess.exit(Ending.noAnswer.status) }
        guard let login = Login.current, let options = Options(arguments) else {
            OwnProcess.exit(Ending.notForUs.status)
        }
        OwnProcess.endAfter(seconds: options.seconds(for: login) + 2)
        // Older PAM (1.5.2) says that a password was changed, and not to what.
        guard let password = OwnProcess.readInput(max: Options.passwordBytesMax),
            password.secret.count > 0 || login.isChange,
            let userID = UserName.userID(of: login.user)
        else { OwnProcess.exit(Ending.notForUs.status) }
        let ending = HandOver(login, of: userID, options).run(password)
        if let line = ending.line { SystemLog.write(line) }
        OwnProcess.exit(ending.status)
    }
}

/// How it ended; a status tells a test, PAM never hears it.
enum Ending {
    case done
    case refused
    case notForUs
    case nobodyThere
    case impostor(String)
    case noAnswer

    var status: Int32 {
        switch self {
        case .done: 0
        case .refused: 1
        case .notForUs: 2
        case .nobodyThere: 3
        case .impostor: 4
        case .noAnswer: 5
        }
    }

    /// For the machine's log. What the broker refused it has said itself.
    var line: String? {
        switch self {
        case .done, .refused, .notForUs, .nobodyThere: nil
        case .impostor(let what): "no password was handed over: \(what)"
        case .noAnswer: "the broker does not answer; the login goes on without it"
        }
    }
}
