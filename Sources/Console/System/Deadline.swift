internal import Glibc
internal import Synchronization

/// The end of a program that waits for somebody else.
public enum Deadline {
    /// Where whoever started the process looks for what went wrong.
    public enum Stream: Sendable {
        /// Standard output.
        case output
        /// Standard error.
        case errors
    }

    /// Ends the process with status 1 and a line on the stream, unless it ends before. It holds whatever the process
    /// is doing then, a wait inside the C library too, and also where SIGALRM was blocked by whoever started it; the
    /// line says what to look at.
    public static func endProcess(afterSeconds seconds: UInt32, tellingOn stream: Stream) {
        Target.descriptor.store(stream == .output ? STDOUT_FILENO : STDERR_FILENO, ordering: .relaxed)
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { _ in
            let line: StaticString =
                "chatelaine: the credential broker did not answer in time; see chatelaine doctor\n"
            let descriptor = Target.descriptor.load(ordering: .relaxed)
            _ = unsafe write(descriptor, line.utf8Start, line.utf8CodeUnitCount)
            _exit(1)
        }
        unsafe sigaction(SIGALRM, &action, nil)
        SignalMask.unblock([SIGALRM])
        alarm(seconds)
    }

    private enum Target {
        static let descriptor = Atomic<Int32>(STDERR_FILENO)
    }
}
