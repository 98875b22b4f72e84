internal import Glibc
internal import SDBus
internal import Sodium

/// This process, and the one that it starts in its place.
enum OwnProcess {
    static var userID: UInt32 { geteuid() }

    static var isRoot: Bool { geteuid() == 0 }

    static func variable(_ name: String) -> String? {
        unsafe getenv(name).flatMap { unsafe String(validatingCString: $0) }
    }

    /// A file below the folder that this program's folder is in; empty where that cannot be told.
    static func sibling(_ path: String) -> String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return "" }
        let own = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let folders = own.split(separator: "/").dropLast(2).map { "/" + $0 }
        return folders.joined() + "/" + path
    }

    /// Starts this program once more, in a session of its own: it hears of no terminal that goes. It has the standard
    /// input, nothing else that is open, and of the environment what PAM says of the login. Nil where it cannot be.
    static func startAgain(_ mode: String, _ arguments: [String]) -> pid_t? {
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        guard unsafe posix_spawn_file_actions_init(&actions) == 0,
            unsafe posix_spawnattr_init(&attributes) == 0
        else { return nil }
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        for stream in [STDOUT_FILENO, STDERR_FILENO] {
            unsafe posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0)
        }
        closefrom(STDERR_FILENO + 1)
        // POSIX_SPAWN_SETSID, which glibc's header hides from Swift.
        unsafe posix_spawnattr_setflags(&attributes, 0x80)
        let variables = ["PAM_USER", "PAM_TYPE"].compactMap { name in variable(name).map { "\(name)=\($0)" } }
        var child: pid_t = 0
        let code = unsafe withCStrings(["chatelaine-pam", mode] + arguments) { arguments in
            unsafe withCStrings(variables + ["SWIFT_BACKTRACE=enable=no"]) { environment in
                unsafe posix_spawn(&child, "/proc/self/exe", &actions, &attributes, arguments, environment)
            }
        }
        return code == 0 ? child : nil
    }

    private static func withCStrings<Result>(
        _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers = unsafe texts.map { unsafe strdup($0) } + [nil]
        defer { unsafe pointers.forEach { unsafe free($0) } }
        return unsafe pointers.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress!) }
    }

    /// Waits for its end, which its own alarm brings about at the latest.
    static func await(_ child: pid_t) {
        while waitpid(child, nil, 0) < 0 && errno == EINTR {}
    }

    /// No dump of its memory, and no end by a socket that closes.
    static func harden() -> Bool { ServiceProcess.harden() }

    /// Whatever it is doing then, a wait inside the C library too.
    static func endAfter(seconds: UInt32) {
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigprocmask(SIG_SETMASK, &none, nil)
        signal(SIGALRM, SIG_DFL)
        alarm(seconds)
    }

    /// The standard input to its end, straight into locked memory; nil for more than `max` bytes.
    static func readInput(max: Int) -> SharedSecret? {
        var count = 0
        let whole = Secret(count: max + 1) { target in
            unsafe target.withUnsafeMutableBytes { bytes in
                while count < bytes.count {
                    let got = unsafe read(STDIN_FILENO, bytes.baseAddress! + count, bytes.count - count)
                    if got < 0 && errno == EINTR { continue }
                    guard got > 0 else { break }
                    count += got
                }
            }
        }
        return count <= max ? SharedSecret(Secret(copying: whole.span.extracting(0..<count))) : nil
    }

    /// Takes the password and keeps nothing of it: whoever writes to a pipe that nobody reads is ended by a signal.
    static func discardInput() {
        endAfter(seconds: 5)
        _ = readInput(max: Options.passwordBytesMax)
    }

    static func exit(_ status: Int32) -> Never { Glibc.exit(status) }
}

/// The machine's log.
enum SystemLog {
    static func write(_ line: String) {
        unsafe openlog("chatelaine-pam", LOG_PID, Int32(LOG_AUTHPRIV))
        unsafe line.withCString { text in
            unsafe withVaList([text]) { unsafe vsyslog(LOG_WARNING, "%s", $0) }
        }
    }
}

/// The names of users.
enum UserName {
    /// Nil for a name that nobody has; it may have to be asked of a network.
    static func userID(of name: String) -> UInt32? {
        var entry = unsafe passwd()
        var result: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 1 << 16)
        let code = unsafe getpwnam_r(name, &entry, &buffer, buffer.count, &result)
        return unsafe code == 0 && result != nil ? entry.pw_uid : nil
    }
}
