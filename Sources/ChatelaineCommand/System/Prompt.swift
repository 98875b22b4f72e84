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
            Self.show(question + ": ")
            let line: Streams.Line
            do throws(Failure) {
                line = try Streams.readLine()
            } catch .interrupted {
                show("\n")
                // Ends the process for all signals but a stop; after that one the question is asked anew.
                silence.endAndRaise()
                continue
            }
            _ = consume silence
            if line.end == .newline { return line.secret }
            show("\n")
            if line.secret.count == 0 { return nil }
            return line.secret
        }
    }

    private static func show(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe write(STDERR_FILENO, bytes, bytes.count)
    }
}

/// The terminal without echo, for as long as this lives. Signals that would end or stop the process are caught
/// meanwhile, so that none can leave the terminal mute.
private struct Silence: ~Copyable {
    private let terminal: termios
    private let signals: [(number: Int32, action: sigaction)]

    private static let caught = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

    init() throws(Failure) {
        var before = termios()
        guard unsafe tcgetattr(STDIN_FILENO, &before) == 0 else {
            throw Failure(.failed, "the terminal cannot be asked")
        }
        terminal = before
        Caught.signal.store(0, ordering: .relaxed)
        signals = Self.caught.map { ($0, Self.replace($0)) }
        var silent = before
        silent.c_lflag = silent.c_lflag & ~tcflag_t(ECHO) | tcflag_t(ECHONL)
        unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
    }

    // Without SA_RESTART, so that the read ends.
    private static func replace(_ number: Int32) -> sigaction {
        var action = sigaction()
        var before = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { Caught.signal.store($0, ordering: .relaxed) }
        unsafe sigaction(number, &action, &before)
        return before
    }

    /// Puts all back and lets the signal that was caught do what it does.
    consuming func endAndRaise() {
        let number = Caught.signal.load(ordering: .relaxed)
        _ = consume self
        if number != 0 { raise(number) }
    }

    deinit {
        var before = terminal
        unsafe tcsetattr(STDIN_FILENO, TCSANOW, &before)
        for (number, action) in signals {
            var action = action
            unsafe sigaction(number, &action, nil)
        }
    }
}

/// The last signal that came during a prompt.
private enum Caught {
    static let signal = Atomic<Int32>(0)
}
