import Glibc

/// A control group of the machine's unified hierarchy, gone with the value.
final class Group: Sendable {
    private static let hierarchy = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].first {
        unsafe access($0 + "/cgroup.procs", W_OK) == 0
    }

    static let canBeMade = (try? Group("chatelaine-test-\(getpid()).slice/a.service")) != nil

    private let path: String
    /// Those that this one made, and takes away again.
    private let made: [String]

    init(_ path: String) throws {
        guard let hierarchy = Self.hierarchy else { throw Child.Failure(step: "cgroup", code: ENOENT) }
        var made: [String] = []
        var folder = hierarchy
        for name in path.split(separator: "/") {
            folder += "/\(name)"
            if unsafe mkdir(folder, 0o755) == 0 { made.append(folder) }
        }
        self.path = folder
        self.made = made
        guard unsafe access(folder, W_OK) == 0 else { throw Child.Failure(step: "mkdir", code: errno) }
    }

    func take(_ child: Child) throws {
        let file = unsafe open("\(path)/cgroup.procs", O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        let text = Array("\(child.processID)\n".utf8)
        guard unsafe write(file, text, text.count) == text.count else {
            throw Child.Failure(step: "cgroup.procs", code: errno)
        }
    }

    deinit {
        for folder in made.reversed() { unsafe rmdir(folder) }
    }
}
