internal import CSystemd
internal import Glibc

/// A timer that never fires, and becomes readable when the wall clock jumps.
final class ClockWatch {
    private let descriptor: UnixFD

    init() throws(BusError) {
        let number = timerfd_create(CLOCK_REALTIME, Int32(TFD_NONBLOCK | TFD_CLOEXEC))
        guard number >= 0 else { throw BusError(errno: errno) }
        descriptor = UnixFD(owning: number)
        arm()
    }

    var number: Int32 { descriptor.number }

    /// Waits for the next jump.
    func arm() {
        var count: UInt64 = 0
        unsafe read(number, &count, 8)
        var never = itimerspec()
        never.it_value.tv_sec = .max
        unsafe timerfd_settime(number, Int32(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET), &never, nil)
    }
}
