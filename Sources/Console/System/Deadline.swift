internal import Glibc

/// The end of a program that waits for somebody else.
public enum Deadline {
    /// Ends the process with status 1 and a line on standard error, unless it ends before. It holds whatever the process
    /// is doing then, a wait inside the C library too; the line says what to look at.
    public static func endProcess(afterSeconds seconds: UInt32) {
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { _ in
            let line: StaticString =
                "chatelaine: the credential broker did not answer in time; see chatelaine doctor\n"
            _ = unsafe write(STDERR_FILENO, line.utf8Start, line.utf8CodeUnitCount)
            _exit(1)
        }
        unsafe sigaction(SIGALRM, &action, nil)
        SignalMask.unblock([SIGALRM])
        alarm(seconds)
    }
}
