internal import Chatelaine

/// The command line of `git-credential-chatelaine`: options that stand in git's configuration, and the operation, which
/// git puts behind them.
enum GitArguments {
    enum Request: Equatable {
        case perform(GitHelper.Operation, Options)
        case capability
        case unknown
        case help
        case version
    }

    /// What the configuration may say.
    struct Options: Equatable {
        var endpoint = Endpoint.user
        var group: String?
        var timeoutSeconds = HelperProcess.patienceSeconds
    }

    static func parse(_ arguments: [String]) throws(HelperFailure) -> Request {
        var rest = arguments[...]
        var options = Options()
        while let word = rest.first, word.hasPrefix("-") {
            rest.removeFirst()
            switch word {
            case "--help": return .help
            case "--version": return .version
            case "--user": options.endpoint = .user
            case "--system": options.endpoint = .system
            case "--group": options.group = try value(of: word, &rest)
            case "--timeout":
                guard let seconds = UInt32(try value(of: word, &rest)), (1...3600).contains(seconds)
                else { throw mistake("--timeout needs a number of seconds, 1 to 3600") }
                options.timeoutSeconds = seconds
            default: throw mistake("there is no such option")
            }
        }
        guard let word = rest.popFirst(), rest.isEmpty else { throw mistake("one operation is needed") }
        if word == "capability" { return .capability }
        return GitHelper.Operation(rawValue: word).map { .perform($0, options) } ?? .unknown
    }

    private static func value(
        of option: String, _ rest: inout ArraySlice<String>
    ) throws(HelperFailure) -> String {
        guard let value = rest.popFirst() else { throw mistake("\(option) needs a value") }
        return value
    }

    private static func mistake(_ text: String) -> HelperFailure {
        HelperFailure("\(text); see git-credential-chatelaine --help")
    }

    static let usage = """
        Usage: git-credential-chatelaine [OPTION...] get | store | erase | capability

        git's credential helper, which keeps passwords in the keychain:
            git config --global credential.helper chatelaine
        git gives it the operation, and what it is about on standard input.

        Options, for git's configuration:
          --group GROUP      the access group; the default is the program's first
          --user             the broker of the user, which is the default
          --system           the broker of the system
          --timeout SECONDS  give up after 1 to 3600 of them; the default is 60
          --help             print this
          --version          print the version

        git-credential-chatelaine(1) explains them.

        """
}
