/// A file that says what a session bus starts for a name that nobody owns.
public struct ActivationFile: Sendable, Equatable {
    /// Where it is, for a person to read, as the rest.
    public let path: String
    /// What a bus without systemd runs.
    public let command: String
    /// What a bus with systemd starts; empty where that runs the command too.
    public let unit: String

    /// Every file for the name that a session bus finds, as its own environment is this process's; the first one wins.
    public static func all(for name: String) -> [ActivationFile] {
        folders.compactMap { folder in
            // Nearly always it has the name's name, and hundreds lie beside it.
            if let file = ActivationFile("\(folder)/\(name).service", for: name) { return file }
            let names = ((try? HostFolder.names(in: folder)) ?? []).filter { $0.hasSuffix(".service") }
            return names.sorted().lazy.compactMap { ActivationFile("\(folder)/\($0)", for: name) }.first
        }
    }

    /// Where a session bus looks, in its order.
    public static var folders: [String] {
        let home = HostEnvironment.variable("HOME").map { $0 + "/.local/share" }
        let shared = HostEnvironment.variable("XDG_DATA_DIRS") ?? "/usr/local/share:/usr/share"
        let own = [
            HostEnvironment.variable("XDG_RUNTIME_DIR"), HostEnvironment.variable("XDG_DATA_HOME") ?? home,
        ]
        let bases = own.compactMap { $0 } + shared.split(separator: ":").map(String.init) + ["/usr/share"]
        var folders: [String] = []
        for base in bases where base.hasPrefix("/") {
            let folder = base + "/dbus-1/services"
            if !folders.contains(folder) { folders.append(folder) }
        }
        return folders
    }

    /// Nil for what is no such file, and for one of another name.
    init?(_ path: String, for name: String) {
        guard let text = HostKernel.text(path) else { return nil }
        var (isInside, values): (Bool, [Substring: String]) = (false, [:])
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("[") { isInside = line == "[D-BUS Service]" }
            guard isInside, let equals = line.firstIndex(of: "=") else { continue }
            values[line[..<equals].trimmed] = String(line[line.index(after: equals)...].trimmed)
        }
        guard values["Name"] == name else { return nil }
        self.path = path.plain
        command = (values["Exec"] ?? "").plain
        unit = (values["SystemdService"] ?? "").plain
    }

    /// Whether it is the broker that is started.
    public var startsBroker: Bool {
        let program = command.split(separator: " ").first?.split(separator: "/").last
        return unit == "chatelained.service" || program == "chatelained"
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var text = self
        while text.first == " " { text.removeFirst() }
        while text.last == " " || text.last == "\r" { text.removeLast() }
        return text
    }
}
