internal import Glibc

/// posix_spawn with pipes, an empty signal mask and default signal actions: the pool's threads block every signal, and
/// a child that inherited that would ignore SIGTERM.
enum Spawn {
    struct Spawned: Sendable {
        let processID: Int32
        let input: Int32
        let output: Int32
    }

    static func run(
        _ command: [String], environment: [String: String], output: ChildProcess.Output,
        errors: ChildProcess.Output
    ) throws -> Spawned {
        // A child that ends early must not take the test process with it.
        Glibc.signal(SIGPIPE, SIG_IGN)
        let input = try pipe()
        let lines = try pipe()
        defer {
            close(input.read)
            close(lines.write)
        }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, input.read, 0)
        unsafe direct(&actions, 1, output, lines.write)
        unsafe direct(&actions, 2, errors, lines.write)
        let processID = try unsafe spawn(command, environment, &actions)
        return Spawned(processID: processID, input: input.write, output: lines.read)
    }

    private static func direct(
        _ actions: inout posix_spawn_file_actions_t, _ number: Int32, _ output: ChildProcess.Output,
        _ pipe: Int32
    ) {
        switch output {
        case .lines: unsafe posix_spawn_file_actions_adddup2(&actions, pipe, number)
        case .discard: unsafe posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_WRONLY, 0)
        case .file(let path):
            unsafe posix_spawn_file_actions_addopen(
                &actions, number, path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        }
    }

    private static func spawn(
        _ command: [String], _ environment: [String: String], _ actions: inout posix_spawn_file_actions_t
    ) throws -> Int32 {
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        var all = sigset_t()
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var processID: pid_t = 0
        let result = unsafe withStrings(command) { arguments in
            unsafe withStrings(merged(environment)) { variables in
                unsafe posix_spawnp(&processID, command[0], &actions, &attributes, arguments, variables)
            }
        }
        guard result == 0 else { throw TestFailure("\(command) cannot be started: errno \(result)") }
        return processID
    }

    private static func merged(_ added: [String: String]) -> [String] {
        var all: [String] = []
        var next = unsafe environ
        while let entry = unsafe next.pointee {
            let line = unsafe String(cString: entry)
            if !added.keys.contains(where: { line.hasPrefix($0 + "=") }) { all.append(line) }
            unsafe next += 1
        }
        return all + added.map { "\($0)=\($1)" }
    }

    private static func pipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        guard unsafe Glibc.pipe(&ends) == 0 else { throw TestFailure("no pipe: errno \(errno)") }
        for end in ends where fcntl(end, F_SETFD, FD_CLOEXEC) != 0 { throw TestFailure("no close-on-exec") }
        return (ends[0], ends[1])
    }

    private static func withStrings<Result>(
        _ values: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = unsafe values.map { unsafe strdup($0) } + [nil]
        defer { unsafe copies.forEach { unsafe free($0) } }
        return unsafe body(copies)
    }
}
