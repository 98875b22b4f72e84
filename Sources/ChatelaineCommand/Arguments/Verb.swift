/// Every verb there is. The raw value is how it is written.
enum Verb: String, CaseIterable, Sendable {
    case get
    case set
    case list
    case delete
    case logout
    case refresh
    case status
    case lock
    case unlock
    case passcodeSet = "passcode set"
    case passcodeChange = "passcode change"
    case passcodeRemove = "passcode remove"
    case recoveryCreate = "recovery create"
    case recoveryRemove = "recovery remove"
    case recoveryUse = "recovery use"
    case watch
    case clients
    case groups
    case doctor
    case importSecretService = "import secret-service"
    case importGit = "import git"
    case importNetrc = "import netrc"
    case importDocker = "import docker"
    case secretServiceStatus = "secret-service status"
    case secretServiceOn = "secret-service on"
    case secretServiceOff = "secret-service off"
    case policyCheck = "policy check"
    case policyExplain = "policy explain"
    case policyReload = "policy reload"

    /// The words of the verb: one or two.
    var words: [Substring] { rawValue.split(separator: " ") }

    /// The options that it takes.
    var options: [Option] {
        switch self {
        case .get: Option.item + [.reference, .attributesOnly]
        case .set: Option.item + [.expires, .freshUntil, .ifRevision]
        case .list: Option.item + [.reference, .limit]
        case .delete: Option.item + [.reference, .all, .ifRevision]
        case .logout: [.group, .service, .reason, .force]
        case .refresh: Option.item + [.reference, .expires, .freshUntil, .stale, .timeout]
        case .recoveryCreate: [.discardOld]
        case .recoveryUse: [.lose]
        case .watch: [.group]
        case .importSecretService: [.group, .schema, .apply, .replace, .removeOld]
        case .importGit, .importNetrc, .importDocker: [.group, .apply, .replace, .removeOld]
        default: []
        }
    }

    /// The words that follow it, and how many of them must be there.
    var operands: (names: [String], required: Int) {
        switch self {
        case .policyCheck: (["DIRECTORY"], 0)
        case .policyExplain: (["PROCESS|CONNECTION", "GROUP"], 2)
        case .importGit, .importNetrc, .importDocker: (["FILE"], 0)
        case .refresh: (["COMMAND", "ARGUMENT..."], 1)
        default: ([], 0)
        }
    }

    /// Whether a command with its own arguments follows, behind two dashes.
    var takesCommand: Bool { self == .refresh }

    /// Whether the option may stand more than once.
    func repeats(_ option: Option) -> Bool {
        self == .watch && option == .group || self == .importSecretService && option == .schema
    }

    /// Whether words that it does not expect might be a secret, which no message may repeat.
    var takesSecret: Bool {
        switch self {
        case .set, .unlock, .passcodeSet, .passcodeChange, .passcodeRemove, .recoveryCreate, .recoveryRemove,
            .recoveryUse:
            true
        default: false
        }
    }

    /// What it does, in a few words.
    var summary: String {
        switch self {
        case .get: "print the secret of an item"
        case .set: "store an item: add it, or replace it"
        case .list: "print the attributes of items"
        case .delete: "delete an item"
        case .logout: "delete a service's items and tell its programs"
        case .refresh: "run a command that renews a secret, for everybody who waits for it"
        case .status: "print the state"
        case .lock: "lock the keychain"
        case .unlock: "unlock the keychain"
        case .passcodeSet: "give the keychain its first passcode"
        case .passcodeChange: "change the passcode"
        case .passcodeRemove: "remove the passcode"
        case .recoveryCreate: "make a recovery key and print it, once"
        case .recoveryRemove: "make the recovery key open nothing any more"
        case .recoveryUse: "open the keychain by its recovery key, with a new passcode"
        case .watch: "print signals as they come"
        case .clients: "print who is connected"
        case .groups: "print what is stored where"
        case .doctor: "print whether this machine gives what the policy relies on"
        case .importSecretService: "move in from another keyring"
        case .importGit: "move in from ~/.git-credentials"
        case .importNetrc: "move in from ~/.netrc"
        case .importDocker: "move in from docker's config.json"
        case .secretServiceStatus: "print who has org.freedesktop.secrets, and how"
        case .secretServiceOn: "take it over from another keyring"
        case .secretServiceOff: "give it back"
        case .policyCheck: "read a policy without a broker, and print what it grants"
        case .policyExplain: "print what the broker decides for a process"
        case .policyReload: "make the broker read its policy again"
        }
    }
}
