internal import BrokerHost

/// How gnome-keyring is started for `org.freedesktop.secrets` beside D-Bus, and what keeps it from that: files in the
/// user's own folders, which this command puts there and takes away again.
enum OtherKeyrings {
    /// A start, and the file that prevents it.
    private struct Start {
        let path: String
        let ward: String
        let text: String
    }

    private static let mark = "# Of chatelaine secret-service; 'off' takes it away.\n"
    // Without the broker's program the condition holds again.
    private static let condition = mark + "[Unit]\nConditionPathExists=!"
    private static let hidden = mark + "[Desktop Entry]\nHidden=true\n"

    private static func starts(_ config: String, _ broker: String) -> [Start] {
        let autostart = "/autostart/gnome-keyring-secrets.desktop"
        let units = ["gnome-keyring-daemon.service", "gnome-keyring-daemon.socket"]
        return [Start(path: "/etc/xdg" + autostart, ward: config + autostart, text: hidden)]
            + units.map {
                Start(
                    path: "/usr/lib/systemd/user/\($0)",
                    ward: "\(config)/systemd/user/\($0).d/chatelaine.conf",
                    text: condition + broker + "\n")
            }
    }

    /// Whether one is started with the session: of no weight where existing programs are to use it.
    static func finding(isWanted: Bool) -> Finding {
        let subject = "other keyrings"
        let open = starts(UserFolders.config ?? "", "").filter {
            HostFile.exists($0.path) && !HostName.isTaken($0.ward)
        }
        if open.isEmpty {
            return Finding(subject, .good, "no file that is known here starts one with the session")
        }
        let detail = "started with the session by " + open.map(\.path).joined(separator: ", ")
        return isWanted
            ? Finding(subject, .weak, detail, advice: "chatelaine secret-service on")
            : Finding(subject, .absent, detail)
    }

    /// Prevents those that are there, unless the user has a say in them already. Returns the files.
    static func prevent(_ config: String, broker: String) throws(HostError) -> [String] {
        var made: [String] = []
        for start in starts(config, broker) where HostFile.exists(start.path) && !HostName.isTaken(start.ward)
        {
            try HostName.put(start.ward, start.text)
            made.append(start.ward)
        }
        return made
    }

    /// Takes away what ``prevent(_:broker:)`` has made. Returns the files.
    static func allow(_ config: String) throws(HostError) -> [String] {
        var gone: [String] = []
        for start in starts(config, "") where HostKernel.text(start.ward)?.hasPrefix(mark) == true {
            try HostName.remove(start.ward)
            gone.append(start.ward)
        }
        return gone
    }
}

/// Where a user's configuration and data are.
enum UserFolders {
    static var config: String? { folder("XDG_CONFIG_HOME", "/.config") }
    static var data: String? { folder("XDG_DATA_HOME", "/.local/share") }

    private static func folder(_ variable: String, _ fallback: String) -> String? {
        if let path = HostEnvironment.variable(variable), path.hasPrefix("/") { return path }
        return HostEnvironment.variable("HOME").map { $0 + fallback }
    }
}
