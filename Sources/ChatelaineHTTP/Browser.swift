internal import Glibc
internal import SDBus

/// The user's own browser.
public enum Browser {
    /// Opens an address with `xdg-open`, and returns when that has handed it over, or when a browser that it has become
    /// is closed. Throws ``SignInError/noBrowser``.
    ///
    /// The address is an argument, and all processes of the machine can read arguments: no secret may be in it.
    @concurrent public static func open(_ address: String) async throws(SignInError) {
        let status = await WorkThread(name: "browser").run { run(["xdg-open", address]) }
        if status != 0 { throw .noBrowser }
    }

    /// The status of a program found on the path, with no shell between; -1 where it could not be started.
    private static func run(_ command: [String]) -> Int32 {
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // This thread blocks every signal, and a child would inherit that.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for stream in Int32(0)...2 {
            unsafe posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0)
        }
        let arguments = unsafe command.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        var processID: pid_t = 0
        guard unsafe posix_spawnp(&processID, command[0], &actions, &attributes, arguments, environ) == 0
        else { return -1 }
        var status: Int32 = 0
        while unsafe waitpid(processID, &status, 0) < 0 {
            if errno != EINTR { return -1 }
        }
        return status
    }
}
