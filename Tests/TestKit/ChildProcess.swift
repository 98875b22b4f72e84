internal import Glibc
internal import SDBus

/// A process that a test starts. It is killed and reaped when the object goes, and dies with the test process.
public final class ChildProcess: Sendable {
    /// How a process ended.
    public enum Status: Sendable, Equatable {
        /// It ended by itself, with that code.
        case exited(Int32)
        /// A signal ended it.
        case signalled(Int32)
    }

    /// Where its output goes.
    public enum Output: Sendable {
        /// Nowhere. A stream that the child inherited would keep a pipeline of the test runner open.
        case discard
        /// To `output`, line by line.
        case lines
        /// Into a file.
        case file(String)
    }

    // The kernel kills a child when the *thread* that made it ends, so one that never does makes them all.
    private static let spawner = WorkThread(name: "spawner")

    /// Its number, valid for as long as this object is.
    public let processID: Int32
    /// What it writes on standard output, if that was asked for.
    public let output: LineReader
    private let input: Int32
    private let exit: Task<Status, Never>

    /// Starts a program, found on the path, with its arguments.
    /// - Parameter environment: added to this process's own.
    public static func start(
        _ command: [String], environment: [String: String] = [:], output: Output = .lines,
        errors: Output = .discard
    ) async throws -> ChildProcess {
        let setpriv = "/usr/bin/setpriv"
        let guarded =
            unsafe access(setpriv, X_OK) == 0 ? [setpriv, "--pdeathsig", "KILL", "--"] + command : command
        let spawned = await spawner.run {
            Result { try Spawn.run(guarded, environment: environment, output: output, errors: errors) }
        }
        return ChildProcess(try spawned.get())
    }

    private init(_ spawned: Spawn.Spawned) {
        let processID = spawned.processID
        self.processID = processID
        input = spawned.input
        output = LineReader(descriptor: spawned.output)
        let waiter = WorkThread(name: "waiter")
        exit = Task { await waiter.run { ChildProcess.wait(processID) } }
    }

    deinit {
        kill()
        close(input)
        waitpid(processID, nil, 0)
    }

    /// Writes to its standard input.
    public func write(_ text: String) throws {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(input, $0.baseAddress, $0.count) }
            if count < 0 { throw TestFailure("the child does not read: errno \(errno)") }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Ends its standard input.
    public func closeInput() {
        // The number stays ours, so that the last close is of nothing else.
        let null = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
        dup2(null, input)
        close(null)
    }

    /// Asks it to end.
    public func terminate() { signal(SIGTERM) }

    /// Ends it.
    public func kill() { signal(SIGKILL) }

    /// Sends it a signal.
    public func signal(_ number: Int32) {
        Glibc.kill(processID, number)
    }

    /// Whether a signal has stopped it.
    public var isStopped: Bool {
        var info = unsafe siginfo_t()
        let result = unsafe waitid(P_PID, id_t(processID), &info, WSTOPPED | WNOWAIT | WNOHANG)
        return unsafe result == 0 && info.si_code == CLD_STOPPED
    }

    /// How it ended, once it has.
    public func waitForExit() async -> Status {
        await exit.value
    }

    /// Waits without reaping: the number stays the child's until `deinit`.
    private static func wait(_ processID: Int32) -> Status {
        var info = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(processID), &info, WEXITED | WNOWAIT) != 0 {
            if errno != EINTR { return .signalled(SIGKILL) }
        }
        let status = unsafe info._sifields._sigchld.si_status
        return unsafe info.si_code == CLD_EXITED ? .exited(status) : .signalled(status)
    }
}
