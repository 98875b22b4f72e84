internal import BrokerHost
internal import SDBus

/// Where the broker keeps and finds its things (INTERFACE, command lines).
struct Places {
    let policy: PolicySource
    let configuration: Configuration.Files
    let state: String
    /// The home folder, where the store is in it by itself; nil where another place was named.
    let home: HomeFolder?
    let deviceKey: String
    /// Whether the broker may make the device key there. Not where systemd would hand it over and has none to hand over:
    /// it may be one that cannot be had now.
    let mayMakeDeviceKey: Bool
    /// What is kept for this boot; nil where the environment names no folder for that.
    let runtime: String?
    /// The direct endpoint's socket; nil where there is to be none.
    let socket: Socket?
    /// The address of the bus that logind, polkit and fprintd are on. The environment has no say: it is the user's.
    let systemBus: String

    /// A socket, and who may open its file: all users where the broker serves all.
    struct Socket {
        let path: String
        let mode: UInt32
    }

    /// From the options, else from the environment, else the standard places.
    @BrokerActor init(_ options: Options) throws(Daemon.Failure) {
        let configFolder =
            options.isSystem
            ? "/etc/chatelaine" : HostEnvironment.xdgFolder("XDG_CONFIG_HOME", fallback: ".config")
        let credential = HostEnvironment.variable("CREDENTIALS_DIRECTORY").map {
            $0 + "/chatelaine-device-key"
        }
        let hasNone = credential.map(Self.isNone) ?? false
        let handedOver = credential.flatMap { HostFile.exists($0) && !hasNone ? $0 : nil }
        mayMakeDeviceKey = !hasNone
        guard let state = options.stateFolder ?? Self.state(options),
            let deviceKey = options.deviceKey ?? handedOver ?? configFolder.map({ $0 + "/device.key" })
        else {
            throw Daemon.Failure("HOME is not set; use --state and --device-key", ExitStatus.usage)
        }
        runtime = Self.runtime(options)
        configuration = Configuration.Files(
            named: options.configuration,
            own: options.isSystem ? nil : configFolder.map { $0 + "/chatelained.conf" })
        socket = try Self.socket(options)
        systemBus = options.systemBus ?? "unix:path=/run/dbus/system_bus_socket"
        self.state = state
        home = options.isSystem || options.stateFolder != nil ? nil : Self.home(holding: state)
        self.deviceKey = deviceKey
        if let folder = options.policyFolder {
            policy = .folder(folder)
        } else {
            let own = options.readsUserPolicy ? configFolder.map { $0 + "/policy.d" } : nil
            policy = .standard(userFolder: own)
        }
    }

    private static func home(holding state: String) -> HomeFolder? {
        HostEnvironment.variable("HOME").map(HomeFolder.init).flatMap { $0.holds(state) ? $0 : nil }
    }

    // What the system's unit has for a credential that is not there.
    private static func isNone(_ credential: String) -> Bool {
        (try? HostFile.read(credential, limit: 64))?.bytes == Array("none".utf8)
    }

    private static func state(_ options: Options) -> String? {
        // systemd names several folders in one variable.
        let given = HostEnvironment.variable("STATE_DIRECTORY")?.split(separator: ":").first.map(String.init)
        if options.isSystem { return given ?? "/var/lib/chatelaine" }
        return given ?? HostEnvironment.xdgFolder("XDG_STATE_HOME", fallback: ".local/state")
    }

    @BrokerActor private static func runtime(_ options: Options) -> String? {
        // systemd names several folders in one variable.
        let given = HostEnvironment.variable("RUNTIME_DIRECTORY")?.split(separator: ":").first.map(
            String.init)
        let base = options.isSystem ? "/run" : HostEnvironment.variable("XDG_RUNTIME_DIR")
        return given ?? base.map { $0 + "/chatelaine" }
    }

    private static func socket(_ options: Options) throws(Daemon.Failure) -> Socket? {
        let mode: UInt32 = options.isSystem ? 0o666 : 0o600
        switch options.socket {
        case .none: return nil
        case .path(let path): return Socket(path: path, mode: mode)
        case .standard:
            let base = options.isSystem ? "/run" : HostEnvironment.variable("XDG_RUNTIME_DIR")
            guard let base, base.hasPrefix("/") else {
                throw Daemon.Failure(
                    "XDG_RUNTIME_DIR is not set; use --socket or --no-socket", ExitStatus.usage)
            }
            return Socket(path: base + "/chatelaine/bus", mode: mode)
        }
    }
}
