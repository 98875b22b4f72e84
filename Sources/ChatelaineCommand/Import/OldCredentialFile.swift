internal import BrokerHost
internal import BrokerModel
internal import Chatelaine
internal import Console
internal import CredentialProtocols
internal import SDBus
internal import Sodium

/// A file of another program's, as a place to move from.
@BrokerActor struct OldCredentialFile: OldPlace {
    private let fileKind: CredentialFile.Kind
    private let file: OldFile
    private let found: CredentialFile
    private let broker: Broker
    private let group: String
    let name: String
    let candidates: [Candidate]

    init(_ kind: CredentialFile.Kind, _ path: String, to group: String?, _ broker: Broker) throws(Failure) {
        (fileKind, name, self.broker) = (kind, path, broker)
        let target = group ?? kind.group
        self.group = target
        file = try OldFile.read(path)
        let contents = CredentialFile(kind, file.text)
        found = contents
        candidates = contents.entries.map { entry in
            Candidate(
                place: entry.place, section: Candidate.Section(collection: "", schema: ""), modified: nil,
                ask: { (mode) throws(ImportTrouble) in
                    try await forCandidate { () async throws(ChatelaineError) in
                        try await broker.importItem(entry.attributes, entry.secret, group: target, mode)
                    }
                })
        }
    }

    var kind: String {
        switch fileKind {
        case .git: "git"
        case .netrc: "netrc"
        case .docker: "docker"
        }
    }

    var remarks: [String] { found.remarks.map(\.text) }

    var hasMistakes: Bool { found.remarks.contains(where: \.isMistake) }

    var advice: String? {
        switch fileKind {
        case .git: "git finds them with: git config --global credential.helper chatelaine"
        case .netrc:
            "programs get them from: chatelaine get --class internet-password --server MACHINE --account LOGIN"
        case .docker: "docker finds them with \"credsStore\": \"chatelaine\" in \(name.printable)"
        }
    }

    /// Under the lock the file is read anew, and each entry compared anew: whatever came to the file meanwhile stays.
    func removeOld(_ troubles: inout [String]) async throws(Failure) -> Int {
        var new = try NewFile(for: file.path)
        let file = try OldFile.read(file.path)
        var removable: [CredentialFile.Entry] = []
        for entry in CredentialFile(fileKind, file.text).entries {
            if try await isThere(entry) { removable.append(entry) }
        }
        guard !removable.isEmpty else { return 0 }
        try new.replace(file, by: CredentialFile.remaining(of: file.text, without: removable))
        return removable.count
    }

    // What the broker does not take is not there.
    private func isThere(_ entry: CredentialFile.Entry) async throws(Failure) -> Bool {
        do throws(ImportTrouble) {
            return try await forCandidate { () async throws(ChatelaineError) in
                try await broker.importItem(entry.attributes, entry.secret, group: group, .look)
            }.outcome == .there
        } catch {
            _ = try error.ofOneItem
            return false
        }
    }
}

extension CredentialFile.Kind {
    /// Where it is unless somebody says otherwise; nil where the environment does not tell.
    var standardPath: String? {
        let home = HostEnvironment.variable("HOME")
        switch self {
        case .git: return home.map { $0 + "/.git-credentials" }
        case .netrc: return HostEnvironment.variable("NETRC") ?? home.map { $0 + "/.netrc" }
        case .docker:
            let folder = HostEnvironment.variable("DOCKER_CONFIG") ?? home.map { $0 + "/.docker" }
            return folder.map { $0 + "/config.json" }
        }
    }

    /// Where the policy that comes along has the programs look that read such items; empty for this program's own group.
    fileprivate var group: String {
        switch self {
        case .git: "org.chatelaine.git"
        case .netrc: ""
        case .docker: "org.chatelaine.docker"
        }
    }
}
