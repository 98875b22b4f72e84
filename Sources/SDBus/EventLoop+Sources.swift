internal import CSystemd
internal import Glibc

extension EventLoop {
    /// Calls `handler` once, at that reading of the clock or as soon after as the loop is free. Timers that are due in
    /// one turn of the loop fire in no order.
    ///
    /// A time in the past fires in the next turn. The timer is cancelled when the result is released.
    @BrokerActor public func timer(
        clock: EventClock = .monotonic, at microseconds: UInt64,
        _ handler: @escaping @BrokerActor () -> Void
    ) -> Timer {
        let box = EventHandler { _ in handler() }
        do {
            return unsafe try Timer(
                EventSource(box) { userdata, source in
                    unsafe sd_event_add_time(event, &source, clock.id, microseconds, 1, timerFired, userdata)
                })
        } catch {
            // The clocks' descriptors are open since init, so memory alone can have run out.
            preconditionFailure("no timer can be made: \(error)")
        }
    }

    /// A fresh reading of the clock in microseconds.
    public func now(_ clock: EventClock = .monotonic) -> UInt64 {
        clock.now
    }

    /// Calls `handler` on the loop whenever the process gets the signal, for as long as the loop lives.
    ///
    /// The signal is blocked in the calling thread: call this before any other thread is started, since a thread
    /// that does not block it would take it with the default action.
    @BrokerActor public func onSignal(
        _ number: Int32, _ handler: @escaping @BrokerActor () -> Void
    ) throws(BusError) {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, number)
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        let source = unsafe try EventSource(EventHandler { _ in handler() }) { userdata, source in
            unsafe sd_event_add_signal(event, &source, number, signalArrived, userdata)
        }
        unsafe kept.append(source)
    }

    /// Calls `handler` on the loop whenever somebody has set the wall clock, or the machine has woken, for as long as the
    /// loop lives. Timers on the wall clock need it not: the kernel looks at them itself.
    @BrokerActor public func onClockSet(_ handler: @escaping @BrokerActor () -> Void) throws(BusError) {
        let watch = try ClockWatch()
        let source = unsafe try EventSource(
            EventHandler { _ in
                watch.arm()
                handler()
            }
        ) { userdata, source in
            unsafe sd_event_add_io(event, &source, watch.number, EPOLLIN.rawValue, ioHappened, userdata)
        }
        unsafe kept.append(source)
    }

    /// Calls `handler` while any of `events` holds on the descriptor, which stays the caller's.
    @BrokerActor public func watch(
        _ descriptor: Int32, _ events: IOEvents, _ handler: @escaping @BrokerActor (IOEvents) -> Void
    ) throws(BusError) -> IOSource {
        let box = EventHandler { handler(IOEvents(rawValue: $0)) }
        return unsafe try IOSource(
            EventSource(box) { userdata, source in
                unsafe sd_event_add_io(event, &source, descriptor, events.rawValue, ioHappened, userdata)
            })
    }

    /// Answers systemd's watchdog for as long as the loop turns. False when systemd asks for none.
    @BrokerActor public func enableWatchdog() -> Bool {
        unsafe sd_event_set_watchdog(event, 1) > 0
    }

    /// Waits on the loop until the clock reads `deadline` microseconds.
    @BrokerActor public func sleep(
        until deadline: UInt64, clock: EventClock = .monotonic
    ) async throws(CancellationError) {
        let sleeper = Sleeper()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                sleeper.start(continuation, loop: self, clock: clock, deadline: deadline)
            }
        } onCancel: {
            BrokerActor.start { sleeper.cancel() }
        }
        if sleeper.isCancelled { throw CancellationError() }
    }

    /// Waits on the loop for that long on the monotonic clock.
    @BrokerActor public func sleep(microseconds: UInt64) async throws(CancellationError) {
        try await sleep(until: now() + microseconds)
    }
}

private func handler(of userdata: UnsafeMutableRawPointer?) -> EventHandler {
    unsafe Unmanaged<EventHandler>.fromOpaque(userdata!).takeUnretainedValue()
}

// In these three: the loop calls back on its own thread, which assumeIsolated checks and the compiler cannot see.
private let timerFired: sd_event_time_handler_t = { _, _, userdata in
    nonisolated(unsafe) let handler = unsafe handler(of: userdata)
    BrokerActor.assumeIsolated { unsafe handler.callOnce() }
    return 0
}

private let signalArrived: sd_event_signal_handler_t = { _, _, userdata in
    nonisolated(unsafe) let handler = unsafe handler(of: userdata)
    BrokerActor.assumeIsolated { unsafe handler.body?(0) }
    return 0
}

private let ioHappened: sd_event_io_handler_t = { _, _, events, userdata in
    nonisolated(unsafe) let handler = unsafe handler(of: userdata)
    BrokerActor.assumeIsolated { unsafe handler.body?(events) }
    return 0
}
