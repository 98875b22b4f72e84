internal import CSystemd
internal import Glibc

/// Watches the socket of a server's end of a direct connection, in the place of sd-bus's own sources.
///
/// Those are asked at every turn of the loop, whoever has something to say, so that a hundred silent peers would slow
/// every call down. This costs nothing until the socket has something.
@BrokerActor final class Pump {
    // A descriptor of its own: sd-bus closes the other one when it likes, and its number may then be anybody's.
    private let socket: UnixFD
    private var source: IOSource?
    private var awaitsRoom = false
    /// Whether there may be messages that no event of the socket tells of.
    fileprivate var hasRest = true
    /// Whose turn was the last. One that is gone may have left its identity to another, which then has a long turn.
    fileprivate static var last: ObjectIdentifier?
    /// Who is told that the other side is gone.
    var gone: [ObjectIdentifier: @BrokerActor () -> Void] = [:]

    init(_ bus: OpaquePointer, _ turn: @escaping @BrokerActor () -> Void) throws(BusError) {
        let number = try check(unsafe sd_bus_get_fd(bus))
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw BusError(errno: errno) }
        socket = UnixFD(owning: copy)
        source = try BrokerActor.shared.loop.watch(copy, .readable) { _ in turn() }
        // What sd-bus has read and wants to write since it was started.
        BrokerActor.start(turn)
    }

    /// Whether it is also woken when there is room to write.
    func awaitRoom(_ awaits: Bool) {
        guard awaits != awaitsRoom else { return }
        awaitsRoom = awaits
        source?.change(awaits ? [.readable, .writable] : .readable)
    }

    isolated deinit {
        // Before the descriptor is closed.
        source?.cancel()
    }
}

extension Connection {
    /// The most messages that are served before others get their turn: of a handshake's rest, and of a peer that had the last
    /// turn too, and so is alone. With its answer that mostly sends its next call at once, and an event of its own costs
    /// about as much as reading it. Among several each has one, so that none waits longer than another.
    private static let stepsMax = 16

    /// Reads messages and serves them, or writes what is queued.
    func turn() {
        guard !isClosed, let pump else { return }
        let isAlone = Pump.last == ObjectIdentifier(pump)
        Pump.last = ObjectIdentifier(pump)
        var result: Int32 = 1
        for _ in 0..<(pump.hasRest || isAlone ? Self.stepsMax : 1) where !isClosed && result > 0 {
            noteQueue()
            result = unsafe sd_bus_process(bus, nil)
        }
        guard !isClosed else { return }
        if result < 0 { return lose(pump) }
        if pump.hasRest { goOn(pump, result) }
        pump.awaitRoom(unsafe sd_bus_get_events(bus) & Int32(POLLOUT) != 0)
    }

    // What came together with the handshake's last line lies in sd-bus's buffer. Past that it reads one message at a time.
    private func goOn(_ pump: Pump, _ result: Int32) {
        if result > 0 {
            BrokerActor.start { [weak self] in self?.turn() }
        } else {
            pump.hasRest = !isAuthenticated
        }
    }

    // Garbage, or the end.
    private func lose(_ pump: Pump) {
        let gone = pump.gone
        close()
        gone.values.forEach { $0() }
    }
}
