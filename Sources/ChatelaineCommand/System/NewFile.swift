internal import Console
internal import Glibc
internal import Sodium

/// What takes a file's place: written beside it under the name of the lock that git takes for such a change, so that
/// nobody writes the old one meanwhile who knows of locks. It is gone with this value unless it took the place.
struct NewFile: ~Copyable {
    private let path: String
    private let target: String
    private let descriptor: Int32
    private let signals: [(number: Int32, action: sigaction)]
    private var isPlaced = false

    /// Takes the lock; somebody else's stays and is a failure.
    init(for target: String) throws(Failure) {
        try Self.checkFolder(of: target)
        descriptor = try Self.lock(target + ".lock")
        self.target = target
        path = target + ".lock"
        signals = [SIGINT, SIGTERM, SIGHUP].map { ($0, Self.ignore($0)) }
    }

    // Whoever ends the program now would leave the lock to everybody.
    private static func ignore(_ number: Int32) -> sigaction {
        var (action, before) = (sigaction(), sigaction())
        unsafe action.__sigaction_handler.sa_handler = SIG_IGN
        unsafe sigaction(number, &action, &before)
        return before
    }

    private static func lock(_ path: String) throws(Failure) -> Int32 {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor >= 0 { return descriptor }
        let name = path.printable
        guard errno == EEXIST else { throw Failure(.failed, "\(name) \(OldFile.problem("cannot be made"))") }
        throw Failure(
            .failed,
            "\(name) is there: somebody changes the file, or was killed while doing so; wait, or remove it")
    }

    /// Puts the text in the place of a file that is as it was when it was read, in one step, with its mode, owner and
    /// group.
    mutating func replace(_ old: OldFile, by text: borrowing Secret) throws(Failure) {
        guard old.facts.names == 1 else {
            throw Failure(
                .failed, "\(target.printable) has another name too (a hard link), which would keep it all")
        }
        guard fchown(descriptor, old.facts.owner, old.facts.group) == 0,
            fchmod(descriptor, mode_t(old.facts.mode)) == 0
        else {
            throw Failure(
                .failed, "\(path.printable) \(OldFile.problem("cannot be given the same group and mode"))")
        }
        try write(text.span)
        guard fsync(descriptor) == 0 else {
            throw Failure(.failed, "\(path.printable) \(OldFile.problem("cannot be written"))")
        }
        guard old.isUnchanged else {
            throw Failure(
                .failed, "\(target.printable) was changed meanwhile; nothing was removed, so try again")
        }
        guard unsafe rename(path, target) == 0 else {
            throw Failure(.failed, "\(target.printable) \(OldFile.problem("cannot be replaced"))")
        }
        isPlaced = true
        Self.flushFolder(of: target)
    }

    private func write(_ bytes: Span<UInt8>) throws(Failure) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBufferPointer { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress! + written, buffer.count - written)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else {
                throw Failure(.failed, "\(path.printable) \(OldFile.problem("cannot be written"))")
            }
            written += count
        }
    }

    // Where others may put files nothing secret is written, and no name there is to be trusted.
    private static func checkFolder(of target: String) throws(Failure) {
        var status = stat()
        let folder = folder(of: target)
        guard unsafe stat(folder, &status) == 0, status.st_mode & S_IWOTH == 0,
            status.st_uid == geteuid() || status.st_uid == 0
        else {
            throw Failure(
                .denied,
                "\(folder.printable) is a folder of others, where no secret is written; remove the old by hand"
            )
        }
    }

    private static func flushFolder(of target: String) {
        let folder = unsafe open(folder(of: target), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        _ = fsync(folder)
        _ = close(folder)
    }

    private static func folder(of path: String) -> String {
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    deinit {
        _ = close(descriptor)
        if !isPlaced { unsafe unlink(path) }
        for (number, action) in signals {
            var action = action
            unsafe sigaction(number, &action, nil)
        }
    }
}
