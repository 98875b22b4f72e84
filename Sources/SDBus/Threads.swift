internal import CSystemd
internal import Glibc

/// Starts threads that take no signals: those are the loop's.
enum Threads {
    private final class Start {
        let name: String
        let body: @Sendable () -> Void

        init(_ name: String, _ body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// Starts a detached thread. False when the system has none to give; `body` is then not run.
    static func spawn(name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        var all = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&all)
        // The new thread inherits the mask, so there is no moment in which it could take a signal.
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        let start = unsafe Unmanaged.passRetained(Start(name, body))
        var thread = pthread_t()
        let result = unsafe pthread_create(
            &thread, nil,
            { argument in
                let start = unsafe Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
                unsafe pthread_setname_np(pthread_self(), String(start.name.prefix(15)))
                start.body()
                return nil
            }, start.toOpaque())
        guard result == 0 else {
            unsafe start.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}
