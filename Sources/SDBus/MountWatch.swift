internal import Glibc

/// Says when anything was mounted or unmounted where this process sees it (proc_pid_mountinfo(5)), for as long as it is kept.
@BrokerActor public final class MountWatch {
    private let mounts: UnixFD
    private let source: IOSource

    /// Calls `handler` on the loop after each change from here on; several at once are one.
    public init(_ loop: EventLoop, _ handler: @escaping @BrokerActor () -> Void) throws(BusError) {
        let number = unsafe open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw BusError(errno: errno) }
        mounts = UnixFD(owning: number)
        source = try loop.watch(number, .priority) { _ in handler() }
    }
}
