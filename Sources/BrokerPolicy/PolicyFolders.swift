/// systemd's habits with folders of `.conf` files, as a pure function of their listings.
public enum PolicyFolders {
    /// A folder and what is in it. Later folders hide earlier ones; the user's own hides nothing.
    public struct Folder: Sendable {
        /// Without a slash at its end.
        public let path: String
        /// In any order.
        public let entries: [Entry]
        /// Whose it is.
        public let origin: PolicyFile.Origin
        /// All three fields.
        public init(path: String, entries: [Entry], origin: PolicyFile.Origin = .system) {
            self.path = path
            self.entries = entries
            self.origin = origin
        }
    }

    /// One name in a folder.
    public struct Entry: Sendable {
        /// The name alone.
        public let name: String
        /// Whether it masks.
        public let kind: Kind
        /// Both fields.
        public init(name: String, kind: Kind = .file) {
            self.name = name
            self.kind = kind
        }
    }

    /// What a name stands for.
    public enum Kind: Sendable {
        /// Something to be read. What cannot be read fails there, by its name.
        case file
        /// A file of zero bytes.
        case empty
        /// A symbolic link to `/dev/null`.
        case linkToNull
    }

    /// What is to be done with every name that ends in `.conf`.
    public struct Plan: Sendable, Equatable {
        /// To be read, in this order.
        public var files: [File] = []
        /// Not to be read, because a later folder has the name.
        public var hidden: [Hidden] = []
        /// Empty files and links that mask the name wherever it stands.
        public var masks: [String] = []
    }

    /// A file to be read.
    public struct File: Sendable, Equatable {
        /// Folder and name.
        public let path: String
        /// Whose it is.
        public let origin: PolicyFile.Origin
    }

    /// A file that is not read.
    public struct Hidden: Sendable, Equatable {
        /// Folder and name.
        public let path: String
        /// What hides it: a file to be read, or a mask.
        public let by: String
    }

    /// Decides for folders in their order, the administrator's last but for the user's own.
    public static func plan(_ folders: [Folder]) -> Plan {
        var plan = Plan()
        var byName: [String: [Found]] = [:]
        var own: [Found] = []
        for folder in folders {
            for entry in folder.entries where isPolicy(entry.name) {
                let found = Found(name: entry.name, path: "\(folder.path)/\(entry.name)", kind: entry.kind)
                switch folder.origin {
                case .system: byName[entry.name, default: []].append(found)
                case .user: own.append(found)
                }
            }
        }
        let names = Set(byName.keys).union(own.map(\.name))
        for name in names.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            plan.add(byName[name] ?? [])
            for found in own where found.name == name && found.kind == .file {
                plan.files.append(File(path: found.path, origin: .user))
            }
        }
        return plan
    }

    fileprivate struct Found {
        let name: String
        let path: String
        let kind: Kind
    }

    /// Names with a dot in front are editors' and package managers' leavings.
    private static func isPolicy(_ name: String) -> Bool {
        name.hasSuffix(".conf") && !name.hasPrefix(".")
    }
}

extension PolicyFolders.Plan {
    /// Takes all files of one name, in the order of their folders: the last decides.
    fileprivate mutating func add(_ found: [PolicyFolders.Found]) {
        guard let last = found.last else { return }
        for earlier in found.dropLast() { hidden.append(.init(path: earlier.path, by: last.path)) }
        switch last.kind {
        case .file: files.append(.init(path: last.path, origin: .system))
        case .empty, .linkToNull: masks.append(last.path)
        }
    }
}
