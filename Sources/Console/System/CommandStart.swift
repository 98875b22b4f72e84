internal import Glibc
internal import SDBus

/// The step between a program and a command that it runs: the program again, which asks the kernel to let it end
/// with its parent and then becomes the command. Only a process itself can ask for that.
///
/// The `main` of each program that starts commands looks for it before anything else.
public struct CommandStart {
    private static let mark = "chatelaine: start of a command"

    private let parent: Int32
    private let command: [String]

    /// Nil where the arguments are not of such a step.
    public init?(_ arguments: [String]) {
        guard arguments.count > 2, arguments[0] == Self.mark, let parent = Int32(arguments[1]) else {
            return nil
        }
        self.parent = parent
        command = Array(arguments[2...])
    }

    /// Becomes the command. What cannot be run is told on standard error, and ends as a shell has it.
    public func run() -> Never {
        guard ClientProcess.endWithParent(parent) else { exit(126) }
        unsafe Self.withPointers(command) { arguments in _ = unsafe execvp(arguments[0]!, arguments) }
        let error = errno
        let reason = unsafe String(cString: strerror(error))
        let line = Array("chatelaine: \(command[0].printable) cannot be run: \(reason)\n".utf8)
        _ = unsafe write(STDERR_FILENO, line, line.count)
        exit(error == ENOENT ? 127 : 126)
    }

    /// Starts a command with these for its standard input and output, and gives its process; nil where the system has
    /// none to give. What the caller has made of SIGPIPE does not reach it.
    public static func spawn(_ command: [String], input: Int32, output: Int32) -> Int32? {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var pipe = sigset_t()
        unsafe sigemptyset(&pipe)
        unsafe sigaddset(&pipe, SIGPIPE)
        unsafe posix_spawnattr_setsigdefault(&attributes, &pipe)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        var process: pid_t = 0
        let result = unsafe withPointers([mark, String(getpid())] + command) { arguments in
            unsafe posix_spawn(&process, "/proc/self/exe", &actions, &attributes, arguments, environ)
        }
        return result == 0 ? process : nil
    }

    /// The words as the C library takes them, for the length of the body.
    private static func withPointers<Result>(
        _ words: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe pointers.forEach { unsafe free($0) } }
        return unsafe body(&pointers)
    }
}
