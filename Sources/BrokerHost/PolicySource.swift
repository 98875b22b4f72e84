public import BrokerPolicy
internal import BrokerModel
internal import Glibc

/// Where a policy's files are, and how they are read (POLICY, policy files).
public struct PolicySource: Sendable {
    private let folders: [(path: String, origin: PolicyFile.Origin)]
    private let mayBeTheUsers: Bool

    /// The system's three folders, and the user's own where that is asked for.
    public static func standard(userFolder: String?) -> PolicySource {
        let system = ["/usr/share", "/run", "/etc"].map {
            ($0 + "/chatelaine/policy.d", PolicyFile.Origin.system)
        }
        return PolicySource(
            folders: system + (userFolder.map { [($0, PolicyFile.Origin.user)] } ?? []), mayBeTheUsers: false)
    }

    /// One folder in the place of all others, for tests and for a first try: its files may be the broker
    /// user's own.
    public static func folder(_ path: String) -> PolicySource {
        PolicySource(folders: [(path, .system)], mayBeTheUsers: true)
    }

    /// Reads all files, whole or not at all. It blocks: not on the actor's thread.
    public func load(isSystem: Bool) throws(PolicyErrors) -> (policy: Policy, warnings: [String]) {
        var problems: [PolicyProblem] = []
        var listings: [PolicyFolders.Folder] = []
        for (path, origin) in folders {
            guard let names = Self.names(in: path, problems: &problems, mustExist: mayBeTheUsers) else {
                continue
            }
            if !mayBeTheUsers { checkOwner(of: path + "/", "folder", origin, problems: &problems) }
            let entries = names.map { PolicyFolders.Entry(name: $0, kind: Self.kind(of: "\(path)/\($0)")) }
            // Nobody reads a file that hides another: whose it is has to be looked at here.
            for entry in entries where entry.kind != .file {
                checkOwner(of: "\(path)/\(entry.name)", "file", origin, problems: &problems)
            }
            listings.append(PolicyFolders.Folder(path: path, entries: entries, origin: origin))
        }
        var files: [PolicyFile] = []
        for planned in PolicyFolders.plan(listings).files {
            if let file = read(planned, problems: &problems) { files.append(file) }
        }
        guard problems.isEmpty else { throw PolicyErrors(problems: problems) }
        let loaded = try Policy.load(files, environment: .ofThisMachine(isSystem: isSystem))
        return (loaded.0, loaded.warnings)
    }

    private func read(_ planned: PolicyFolders.File, problems: inout [PolicyProblem]) -> PolicyFile? {
        do throws(HostError) {
            let file = try HostFile.read(planned.path, limit: Limits.policyFileBytesMax)
            guard mayBelong(to: file.ownerID, planned.origin) else {
                problems.append(.init(file: planned.path, line: 1, text: "the file must belong to root"))
                return nil
            }
            guard !file.isWritableByOthers else {
                problems.append(
                    .init(file: planned.path, line: 1, text: "nobody but its owner may write the file"))
                return nil
            }
            return PolicyFile(path: planned.path, contents: file.bytes, origin: planned.origin)
        } catch {
            problems.append(.init(file: planned.path, line: 1, text: error.reason))
            return nil
        }
    }

    private func mayBelong(to ownerID: UInt32, _ origin: PolicyFile.Origin) -> Bool {
        ownerID == 0 || ((origin == .user || mayBeTheUsers) && ownerID == geteuid())
    }

    private func checkOwner(
        of path: String, _ what: String, _ origin: PolicyFile.Origin, problems: inout [PolicyProblem]
    ) {
        var status = stat()
        // What cannot be looked at any more cannot be read either, and that is reported.
        guard unsafe lstat(path, &status) == 0 else { return }
        let isLink = status.st_mode & S_IFMT == S_IFLNK
        if !mayBelong(to: status.st_uid, origin) {
            problems.append(.init(file: path, line: 1, text: "the \(what) must belong to root"))
        } else if !isLink, status.st_mode & (S_IWGRP | S_IWOTH) != 0 {
            problems.append(
                .init(file: path, line: 1, text: "nobody but its owner may write the \(what)"))
        }
    }

    // Nil for a folder that is not there, which is an error only where it was named.
    private static func names(
        in path: String, problems: inout [PolicyProblem], mustExist: Bool
    ) -> [String]? {
        do throws(HostError) {
            return try HostFolder.names(in: path)
        } catch {
            if mustExist || error.code != ENOENT {
                problems.append(.init(file: path, line: 1, text: error.reason))
            }
            return nil
        }
    }

    private static func kind(of path: String) -> PolicyFolders.Kind {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return .file }
        if status.st_mode & S_IFMT == S_IFREG { return status.st_size == 0 ? .empty : .file }
        guard status.st_mode & S_IFMT == S_IFLNK else { return .file }
        var target = [CChar](repeating: 0, count: 16)
        let count = unsafe readlink(path, &target, target.count - 1)
        let text = target.prefix(max(0, count)).map { UInt8(bitPattern: $0) }
        return String(decoding: text, as: UTF8.self) == "/dev/null" ? .linkToNull : .file
    }
}
