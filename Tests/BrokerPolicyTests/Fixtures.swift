import BrokerModel
import BrokerPolicy

extension PolicyEnvironment {
    /// Group `example-mail` (990) without members, `developers` (1100) with two; users `alice` and `bob`.
    static func fixture(isSystem: Bool) -> PolicyEnvironment {
        PolicyEnvironment(
            isSystem: isSystem,
            group: { name in
                switch name {
                case "example-mail", "990": Group(id: 990, members: [])
                case "example-vault": Group(id: 991, members: [])
                case "developers", "1100": Group(id: 1100, members: ["alice", "bob"])
                default: nil
                }
            },
            user: { ["alice": 1000, "bob": 1001][$0] })
    }
}

extension PolicyFile {
    /// A file of the system's.
    init(_ text: String, path: String = "policy.conf", origin: Origin = .system) {
        self.init(path: path, contents: Array(text.utf8), origin: origin)
    }
}

extension PeerFacts {
    /// Words `key=value`: `uid=1000`, `exe=/a,/b@file`, `ns=reference|own|unread`, `unit=system:NAME`,
    /// `unit=user:NAME`, `flatpak=ID` or `flatpak=ID@user`, `snap=ID`, `label=process:TEXT` (or `selinux:`,
    /// `permissive:`, `connection:`), `group=990:fixed`, `group=1100:member`, `pin=connect|late|unproven`.
    /// Without a word the process was pinned late, in the reference namespaces.
    init(vector text: String) throws {
        self.init(userID: 1000)
        inReferenceNamespaces = true
        pin = .late
        for word in text.split(separator: " ") {
            let parts = word.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { throw VectorError("fact '\(word)'") }
            try take(String(parts[0]), String(parts[1]))
        }
    }

    private mutating func take(_ key: String, _ value: String) throws {
        let halves = value.split(separator: ":", maxSplits: 1).map(String.init)
        switch key {
        case "uid": userID = try UInt32(value).required(value)
        case "exe":
            let parts = value.split(separator: "@").map(String.init)
            let trust = try Trust(rawValue: parts.last ?? "").required(value)
            executable = Executable(paths: parts[0].split(separator: ",").map(String.init), trust: trust)
        case "ns":
            inReferenceNamespaces = try ["reference": true, "own": false, "unread": nil][value].required(
                value)
        case "unit": unit = Unit(name: halves[1], isSystem: halves[0] == "system")
        case "flatpak":
            let parts = value.split(separator: "@").map(String.init)
            let trust = try Trust(rawValue: parts.count > 1 ? parts[1] : "file").required(value)
            flatpak = Flatpak(id: parts[0], trust: trust)
        case "snap": snap = value
        case "label":
            let sources: [String: SecurityLabel.Source] = [
                "selinux": .selinux, "permissive": .permissiveSELinux, "connection": .connection,
                "process": .process,
            ]
            securityLabel = SecurityLabel(text: halves[1], source: try sources[halves[0]].required(value))
        case "pin":
            pin = try ["connect": .atConnect, "late": .late, "unproven": .unproven][value].required(value)
        case "group":
            let id = try UInt32(halves[0]).required(value)
            groups.append(Group(id: id, name: nil, userIsMember: halves[1] == "member"))
        default: throw VectorError("fact '\(key)'")
        }
    }
}

extension Optional {
    func required(_ what: String) throws -> Wrapped {
        guard let self else { throw VectorError("bad value '\(what)'") }
        return self
    }
}
