/// What PAM says of the login, which pam_exec puts into the environment.
struct Login {
    let user: String
    /// Whether the password was changed, and not only given.
    let isChange: Bool

    /// Nil for what the program has no part in: sessions and accounts, and a PAM that does not run as root, where it
    /// cannot be seen who is at the other end of a socket.
    static var current: Login? {
        guard OwnProcess.isRoot, let user = OwnProcess.variable("PAM_USER"), !user.isEmpty else { return nil }
        switch OwnProcess.variable("PAM_TYPE") {
        case "auth": return Login(user: user, isChange: false)
        case "password": return Login(user: user, isChange: true)
        default: return nil
        }
    }
}

/// What the administrator has written behind the program's name.
struct Options {
    static let version = "1"
    static let handOver = "--hand-over"
    static let passwordBytesMax = 1024
    /// How long a change of password waits for the broker at most.
    private static let changeSeconds: UInt32 = 5

    private(set) var run = "/run"
    private(set) var broker = OwnProcess.sibling("bin/chatelained")
    private var waitSeconds: UInt32 = 30

    /// Nil for what no option is called.
    init?(_ arguments: [String]) {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            guard let value = rest.popFirst() else { return nil }
            switch name {
            case "--run" where value.hasPrefix("/"): run = value
            case "--broker" where value.hasPrefix("/"): broker = value
            case "--seconds":
                guard let seconds = UInt32(value), (1...300).contains(seconds) else { return nil }
                waitSeconds = seconds
            default: return nil
            }
        }
    }

    /// How long it may take. After a login the broker may yet have to be started with the session.
    func seconds(for login: Login) -> UInt32 {
        login.isChange ? min(Self.changeSeconds, waitSeconds) : waitSeconds
    }

    static let usage = """
        usage: chatelaine-pam [--seconds N] [--broker FILE] [--run FOLDER]
               chatelaine-pam --help | --version

        Takes the password of a login to the credential broker. For pam_exec, with expose_authtok; see
        chatelaine-pam(8).

          --seconds N     how long a broker that is not there yet is waited for, beside the login (30)
          --broker FILE   the program that the password is for, and no other (chatelained, installed beside this one)
          --run FOLDER    what is looked at in the place of /run
        """
}
