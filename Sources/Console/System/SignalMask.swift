internal import Glibc

/// The signals that the system keeps back from a thread. A program inherits them from whoever starts it.
public enum SignalMask {
    /// Lets the signals through to the calling thread.
    public static func unblock(_ signals: [Int32]) {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for number in signals { unsafe sigaddset(&set, number) }
        unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }
}
