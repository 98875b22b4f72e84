internal import CSystemd
internal import Glibc

/// Calls when logind has changed what it says of a session, also where it sends no signal: that a session is only kept
/// open by processes that it left behind is in its files alone. Who calls tells nothing; ask logind.
@safe @BrokerActor public final class LoginMonitor {
    private let monitor: OpaquePointer
    private var source: IOSource?

    /// Throws where logind has never run.
    public init(_ changed: @escaping @BrokerActor () -> Void) throws(BusError) {
        var made: OpaquePointer?
        try check(unsafe sd_login_monitor_new("session", &made))
        guard let monitor = unsafe made else { throw BusError(errno: ENOMEM) }
        unsafe self.monitor = monitor
        source = try BrokerActor.shared.loop.watch(
            unsafe sd_login_monitor_get_fd(monitor), .readable
        ) { [weak self] _ in
            self?.flush()
            changed()
        }
    }

    private func flush() { _ = unsafe sd_login_monitor_flush(monitor) }

    isolated deinit {
        // Before the descriptor is closed.
        source?.cancel()
        _ = unsafe sd_login_monitor_unref(monitor)
    }
}
