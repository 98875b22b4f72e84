import SDBus

/// The time that the simulation runs on. It stands still while anybody has something to do, and then goes on to the
/// next moment that somebody waits for.
@BrokerActor final class VirtualTime {
    /// What CLOCK_MONOTONIC would read, in microseconds.
    private(set) var monotonic: UInt64 = 1_000_000_000
    /// By how much the wall clock is off, as somebody set it.
    var wallOffset: Int64 = 0
    private var waiting: [Alarm] = []
    private var alarms: UInt64 = 0

    private static let wallAtStart: UInt64 = 1_800_000_000_000_000
    /// Turns of the loop after which everybody waits: calls take a few each.
    private static let turns = 24

    /// A moment that somebody waits for.
    final class Alarm {
        fileprivate let due: UInt64
        fileprivate let number: UInt64
        fileprivate var body: (@BrokerActor () -> Void)?

        fileprivate init(due: UInt64, number: UInt64, _ body: @escaping @BrokerActor () -> Void) {
            self.due = due
            self.number = number
            self.body = body
        }

        func cancel() { body = nil }
    }

    /// An alarm that goes when nobody holds it any more, as the broker's timers do.
    final class Timer {
        private let alarm: Alarm

        init(_ alarm: Alarm) { self.alarm = alarm }

        deinit { alarm.cancel() }
    }

    /// What the wall clock reads.
    var wall: UInt64 { UInt64(Int64(Self.wallAtStart + monotonic) + wallOffset) }

    /// Calls `body` at that moment of the monotonic clock.
    @discardableResult func alarm(at due: UInt64, _ body: @escaping @BrokerActor () -> Void) -> Alarm {
        alarms += 1
        let alarm = Alarm(due: max(due, monotonic), number: alarms, body)
        let place = waiting.firstIndex { ($0.due, $0.number) < (alarm.due, alarm.number) } ?? waiting.endIndex
        waiting.insert(alarm, at: place)
        return alarm
    }

    /// Waits for so many microseconds.
    func sleep(_ microseconds: UInt64) async {
        await withCheckedContinuation { continuation in
            alarm(at: monotonic + microseconds) { continuation.resume() }
        }
    }

    /// Lets time go by until then.
    func run(until isDone: () -> Bool) async {
        while true {
            for _ in 0..<Self.turns { await Task.yield() }
            guard !isDone(), let next = waiting.popLast() else { return }
            guard let body = next.body else { continue }
            monotonic = next.due
            body()
        }
    }
}
