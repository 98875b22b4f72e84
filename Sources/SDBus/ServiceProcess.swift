internal import CSystemd
internal import Glibc

/// What a daemon that holds secrets does to its own process before anything else.
public enum ServiceProcess {
    /// No core file, no memory for a debugger of the same user, files for the owner alone, and no death by a
    /// pipe that broke. False when the system refused one of them.
    ///
    /// A crash ends the process and says nothing: Swift's own report, which the runtime has set up by now
    /// whatever the program wants, shows the memory that the registers point to.
    public static func harden() -> Bool {
        umask(0o077)
        signal(SIGPIPE, SIG_IGN)
        for crash in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] { signal(crash, SIG_DFL) }
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        let hasNoCore = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0
        return shim_forbid_dumps() == 0 && hasNoCore
    }

    /// One heap for all threads, and free memory given back early: a broker waits most of its life, beside others
    /// that want the memory. Before the first other thread.
    public static func keepHeapSmall() {
        mallopt(M_ARENA_MAX, 1)
        mallopt(M_TRIM_THRESHOLD, 64 << 10)
    }

    /// As many descriptors as the system lets it have, up to `countMax`: each client costs one or two.
    public static func raiseDescriptorLimit(to countMax: UInt64) {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard unsafe getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = max(limit.rlim_cur, min(rlim_t(countMax), limit.rlim_max))
        _ = unsafe setrlimit(resource, &limit)
    }
}
