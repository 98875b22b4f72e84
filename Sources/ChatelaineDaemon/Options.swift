/// The daemon's command line (chatelained(8)).
struct Options: Equatable {
    var isSystem = false
    var policyFolder: String?
    var readsUserPolicy = false
    var stateFolder: String?
    var deviceKey: String?
    var socket: Socket = .standard
    var configuration: String?
    var systemBus: String?

    /// The direct endpoint.
    enum Socket: Equatable {
        case standard
        case none
        case path(String)
    }

    /// What the arguments ask for.
    enum Request: Equatable {
        case run(Options)
        case help
        case version
    }

    /// A command line that cannot be followed; the text is for a person.
    struct Mistake: Error, Equatable {
        let text: String
    }

    /// Reads the arguments without the program's name.
    static func parse(_ arguments: [String]) throws(Mistake) -> Request {
        var options = Options()
        var mode: Bool?
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let (name, inline) = split(argument)
            switch name {
            case "--help", "-h": return .help
            case "--version": return .version
            case "--user", "--system":
                guard mode == nil else { throw Mistake(text: "--user and --system exclude one another") }
                mode = name == "--system"
            case "--user-policy": options.readsUserPolicy = true
            case "--no-socket": options.socket = .none
            case "--policy": options.policyFolder = try value(of: name, inline, &rest)
            case "--state": options.stateFolder = try value(of: name, inline, &rest)
            case "--device-key": options.deviceKey = try value(of: name, inline, &rest)
            case "--socket": options.socket = .path(try value(of: name, inline, &rest))
            case "--system-bus": options.systemBus = try value(of: name, inline, &rest)
            case "--config": options.configuration = try value(of: name, inline, &rest)
            default: throw Mistake(text: "unknown argument \(argument)")
            }
        }
        guard let mode else { throw Mistake(text: "one of --user and --system is needed") }
        options.isSystem = mode
        guard !mode || options.systemBus == nil else {
            throw Mistake(text: "--system-bus goes with --user alone")
        }
        guard !mode || !options.readsUserPolicy else {
            throw Mistake(text: "--user-policy goes with --user alone")
        }
        return .run(options)
    }

    private static func split(_ argument: String) -> (name: String, value: String?) {
        guard argument.hasPrefix("--"), let equals = argument.firstIndex(of: "=") else {
            return (argument, nil)
        }
        return (String(argument[..<equals]), String(argument[argument.index(after: equals)...]))
    }

    private static func value(
        of name: String, _ inline: String?, _ rest: inout ArraySlice<String>
    ) throws(Mistake) -> String {
        guard let value = inline ?? rest.popFirst(), !value.isEmpty else {
            throw Mistake(text: "\(name) needs a value")
        }
        return value
    }

    static let usage = """
        chatelained --user | --system [OPTION]…

        Keeps credentials and hands each program only those that the policy gives it.

          --user             serve this user on the session bus
          --system           serve all users on the system bus, each with a keychain of its own
          --policy DIR       read the policy from this folder alone
          --user-policy      read the user's own policy files too
          --state DIR        keep the store here
          --device-key FILE  the device key; made at first start
          --socket PATH      the direct endpoint; $XDG_RUNTIME_DIR/chatelaine/bus by itself
          --no-socket        no direct endpoint
          --system-bus ADDR  where logind, polkit and fprintd are; /run/dbus/system_bus_socket by itself
          --config FILE      configuration ([Broker] AllowPlain=, UnlockWithSession=, SecretService=, LockOn=)
          --version, --help

        See chatelained(8).
        """
}
