import BrokerModel

/// Finds the paths that name a running program's very file, and what they are worth.
struct ExecutableProof {
    /// What the facts will say.
    let executable: PeerFacts.Executable
    /// What is worth remembering, should the file be replaced while the program runs.
    let sightings: [ExecutableMemory.Record]

    /// Nil when no path names the file and the memory does not either.
    ///
    /// `text` is the link's own, `policyPaths` are the policy's. Where one path is at `file` trust only such
    /// paths are listed: a path that its user could turn would otherwise lend its name in the policy to a
    /// program of root's, at root's trust.
    static func find(
        _ file: Descriptor, text: String, policyPaths: [String], memory: ExecutableMemory, root: Descriptor
    ) throws(SystemError) -> ExecutableProof? {
        let status = try file.status()
        let birth = try file.birthTime()
        func record(_ path: String) -> ExecutableMemory.Record? {
            birth.map { ExecutableMemory.Record(path: path, file: status.id, birth: $0) }
        }

        var trusted: [String] = []
        var named: [String] = []
        for path in unique([text] + policyPaths) {
            guard let end = try PathWalk.follow(path, from: root), end.status.id == status.id else {
                continue
            }
            named.append(path)
            if end.isTrusted { trusted.append(path) }
        }
        if !trusted.isEmpty {
            return ExecutableProof(
                executable: .init(paths: trusted, trust: .file), sightings: trusted.compactMap(record))
        }
        let remembered = try pathsBefore(file, status, text, policyPaths) {
            record($0).map(memory.holds) ?? false
        }
        if !remembered.isEmpty {
            return ExecutableProof(executable: .init(paths: remembered, trust: .file), sightings: [])
        }
        guard !named.isEmpty else { return nil }
        return ExecutableProof(executable: .init(paths: named, trust: .user), sightings: [])
    }

    /// The paths that named a replaced file before: only for one that still is as root left it, and only
    /// where the kernel says that its name is gone. A file that was merely moved goes by its new name.
    private static func pathsBefore(
        _ file: Descriptor, _ status: FileStatus, _ text: String, _ policyPaths: [String],
        isRemembered: (String) -> Bool
    ) throws(SystemError) -> [String] {
        let mark = " (deleted)"
        guard text.utf8.suffix(mark.utf8.count).elementsEqual(mark.utf8), status.kind == .regular,
            status.isGuarded, try file.isOnTrustedMount(),
            let oldText = String(text.utf8.dropLast(mark.utf8.count))
        else { return [] }
        return unique([oldText] + policyPaths).filter(isRemembered)
    }

    private static func unique(_ paths: [String]) -> [String] {
        var seen: Set<String> = []
        return paths.filter { seen.insert($0).inserted }
    }
}
