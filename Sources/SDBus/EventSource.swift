internal import CSystemd
internal import Glibc

/// What a source calls. sd-event holds one reference until the source is gone.
final class EventHandler {
    var body: (@BrokerActor (UInt32) -> Void)?

    init(_ body: @escaping @BrokerActor (UInt32) -> Void) {
        self.body = body
    }

    /// Calls it for the only time: what it captured goes with it.
    @BrokerActor func callOnce() {
        let body = body
        self.body = nil
        body?(0)
    }
}

/// One source of the loop. It ends with `cancel` or with its last reference.
@safe @BrokerActor final class EventSource {
    private var source: OpaquePointer?
    private let handler: EventHandler

    /// `add` puts the source into the loop with the pointer that it gets as userdata.
    init(
        _ handler: EventHandler, add: (UnsafeMutableRawPointer, inout OpaquePointer?) -> Int32
    ) throws(BusError) {
        self.handler = handler
        let reference = unsafe Unmanaged.passRetained(handler)
        let result = unsafe add(reference.toOpaque(), &source)
        guard result >= 0 else {
            unsafe reference.release()
            throw BusError(errno: result)
        }
        unsafe sd_event_source_set_destroy_callback(source) { userdata in
            unsafe Unmanaged<EventHandler>.fromOpaque(userdata!).release()
        }
    }

    /// Waits for other events on its descriptor from now on.
    func change(_ events: UInt32) {
        _ = unsafe sd_event_source_set_io_events(source, events)
    }

    /// Stops it; nothing is called after this. The closure goes too, with what it captured.
    func cancel() {
        handler.body = nil
        guard let source = unsafe source else { return }
        unsafe self.source = nil
        _ = unsafe sd_event_source_disable_unref(source)
    }

    isolated deinit {
        cancel()
    }
}

/// A one-shot timer. Keep it: it is cancelled when it is released.
@BrokerActor public final class Timer {
    private let source: EventSource

    init(_ source: EventSource) {
        self.source = source
    }

    /// Nothing is called after this.
    public func cancel() {
        source.cancel()
    }
}

/// A watched file descriptor. Keep it: the watch ends when it is released, before the descriptor is closed.
@BrokerActor public final class IOSource {
    private let source: EventSource

    init(_ source: EventSource) {
        self.source = source
    }

    /// Waits for these from now on.
    public func change(_ events: IOEvents) {
        source.change(events.rawValue)
    }

    /// Nothing is called after this.
    public func cancel() {
        source.cancel()
    }
}

/// What happened, or is waited for, on a file descriptor.
public struct IOEvents: OptionSet, Sendable {
    /// The bits of epoll.
    public let rawValue: UInt32

    /// From the bits of epoll.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// There is something to read.
    public static let readable = IOEvents(rawValue: EPOLLIN.rawValue)
    /// There is room to write.
    public static let writable = IOEvents(rawValue: EPOLLOUT.rawValue)
    /// Something exceptional: what the files of the kernel use to say that they changed.
    public static let priority = IOEvents(rawValue: EPOLLPRI.rawValue)
    /// The other end is gone; reported unasked.
    public static let hangup = IOEvents(rawValue: EPOLLHUP.rawValue)
    /// An error; reported unasked.
    public static let error = IOEvents(rawValue: EPOLLERR.rawValue)
}
