import Glibc

/// What a test changes of the one thread that reads, and of no other: the kernel keeps user ids and mount
/// namespaces for each thread. The C library would change all threads, so the calls are made bare.
enum OwnThread {
    @_silgen_name("syscall")
    private static func systemCall(_ number: Int, _ first: Int, _ second: Int, _ third: Int) -> Int

    @_silgen_name("unshare")
    private static func unshare(_ flags: Int32) -> Int32

    #if arch(arm64)
        static let prctl = 167
        private static let setresgid = 149
        private static let setresuid = 147
    #else
        static let prctl = 157
        private static let setresgid = 119
        private static let setresuid = 117
    #endif

    /// A reader that is `nobody` and has no privilege left.
    static func becomeNobody() {
        precondition(systemCall(setresgid, Int(nobody), Int(nobody), Int(nobody)) == 0)
        precondition(systemCall(setresuid, Int(nobody), Int(nobody), Int(nobody)) == 0)
    }

    /// A mount namespace in which mounts are seen by this thread alone.
    static func leaveMounts() {
        let newMountsAndFolders: Int32 = 0x20000 | 0x200
        precondition(unshare(newMountsAndFolders) == 0)
        let privateAndBelow = UInt(1 << 18 | 1 << 14)
        precondition(unsafe mount("none", "/", nil, privateAndBelow, nil) == 0)
    }

    static func mountProcess(options: String) {
        precondition(unsafe options.withCString { unsafe mount("proc", "/proc", "proc", 0, $0) } == 0)
    }

    /// An empty file system of root's. `flags` 2 is `nosuid`.
    static func mountEmpty(at path: String, flags: UInt) {
        precondition(unsafe "mode=755".withCString { unsafe mount("none", path, "tmpfs", flags, $0) } == 0)
    }
}
