import Glibc
import Testing

/// Processes in control groups. One after the other, since their groups have folders in common.
@Suite(.serialized, .enabled(if: Group.canBeMade, "needs a control group to write to"))
struct RealGroupTests {}

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
        let names = path.split(separator: "/")
        let folders = names.indices.map { "\(hierarchy)/" + names[...$0].joined(separator: "/") }
        // Another test may take a folder away that both have above theirs, so a missing one is made again.
        for _ in 0..<100 {
            for folder in folders where unsafe mkdir(folder, 0o755) == 0 { made.append(folder) }
            if unsafe access(folders[folders.count - 1], W_OK) == 0 { break }
        }
        self.path = folders[folders.count - 1]
        self.made = made.sorted()
        guard unsafe access(self.path, W_OK) == 0 else { throw Child.Failure(step: "mkdir", code: errno) }
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
