internal import Console
internal import Glibc
internal import Sodium
internal import Synchronization

/// A question on the terminal whose answer is not shown.
enum Prompt {
    /// Asks on standard error and reads a line from standard input, which is a terminal. Nil when the terminal
    /// says that there is no more.
    static func ask(_ question: String) throws(Failure) -> Secret? {
        while true {
            let silence = try Silence()
            show(question + ": ")
            guard silence.waitForLine() else {
                show("\n")
                // Ends the process for all signals but a stop; after that one the question is asked anew.
                silence.endAndRaise()
                continue
            }
            let line = try Streams.readLine()
            _ = consume silence
            if line.end == .newline { return line.take() }
            show("\n")
            if line.secret.count == 0 { return nil }
            return line.take()
        }
    }

    private static func show(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe write(STDERR_FILENO, bytes, bytes.count)
    }
}

/// The terminal without echo, for as long as this lives. Signals that would end or stop the process are kept
/// back meanwhile, so that none can leave the terminal mute.
private struct Silence: ~Copyable {
    private let terminal: termios
    private let actions: [(number: Int32, action: sigaction)]
    private let mask: sigset_t

    private static let caught = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

    init() throws(Failure) {
        var before = termios()
        guard unsafe tcgetattr(STDIN_FILENO, &before) == 0 else {
            throw Failure(.failed, "the terminal cannot be asked")
        }
        terminal = before
        Caught.signal.store(0, ordering: .relaxed)
        mask = Self.block()
        actions = Self.caught.map { ($0, Self.replace($0)) }
        var silent = before
        silent.c_lflag = silent.c_lflag & ~tcflag_t(ECHO) | tcflag_t(ECHONL)
        unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
    }

    private static func block() -> sigset_t {
        var (set, before) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&set)
        for number in caught { unsafe sigaddset(&set, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &set, &before)
        return before
    }

    private static func replace(_ number: Int32) -> sigaction {
        var (action, before) = (sigaction(), sigaction())
        unsafe action.__sigaction_handler.sa_handler = { Caught.signal.store($0, ordering: .relaxed) }
        unsafe sigaction(number, &action, &before)
        return before
    }

    /// Waits until a line can be read. False when a signal came first.
    borrowing func waitForLine() -> Bool {
        while Caught.signal.load(ordering: .relaxed) == 0 {
            var (input, mask) = (fd_set(), mask)
            // The bit of standard input. The signals are let through inside pselect alone, so none can come
            // between the look at the flag and the wait.
            input.__fds_bits.0 = 1
            let count = unsafe pselect(1, &input, nil, nil, nil, &mask)
            // What else goes wrong, the read will say.
            if count > 0 || errno != EINTR { return true }
        }
        return false
    }

    /// Puts all back and lets the signal that was caught do what it does.
    consuming func endAndRaise() {
        let number = Caught.signal.load(ordering: .relaxed)
        _ = consume self
        raise(number)
    }

    deinit {
        var (terminal, mask) = (terminal, mask)
        unsafe tcsetattr(STDIN_FILENO, TCSANOW, &terminal)
        for (number, action) in actions {
            var action = action
            unsafe sigaction(number, &action, nil)
        }
        unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
    }
}

/// The last signal that came during a prompt.
private enum Caught {
    static let signal = Atomic<Int32>(0)
}
