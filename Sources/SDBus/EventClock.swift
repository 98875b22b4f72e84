internal import CSystemd
internal import Glibc

/// The clocks that a timer may run on.
public enum EventClock: Sendable {
    /// Stops while the machine is suspended.
    case monotonic
    /// Goes on while the machine is suspended.
    case boottime
    /// The wall clock, microseconds since the Unix epoch; its timers also fire when somebody sets the clock.
    case realtime

    var id: clockid_t {
        switch self {
        case .monotonic: CLOCK_MONOTONIC
        case .boottime: CLOCK_BOOTTIME
        case .realtime: CLOCK_REALTIME
        }
    }

    /// The reading now, in microseconds. Callable on any thread.
    public var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(id, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1_000
    }
}
