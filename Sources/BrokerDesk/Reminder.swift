internal import BrokerModel
internal import BrokerVault
internal import SDBus

/// Tells subscribers which items want renewing, when their time comes. What comes while nobody listens is told to the
/// next who does.
@BrokerActor final class Reminder {
    private let find: (_ clockWasSet: Bool) -> (notices: [Notice], next: UInt64?)?
    private let tell: ([Notice]) -> Void
    private var timer: Timer?
    private var time = UInt64.max
    private var isAsked = false
    private var clockWasSet = false

    /// After a look that failed, unless something else asks before.
    private static let retryMicroseconds: UInt64 = 60_000_000

    /// `find` gives what wants renewing now, and when to come again.
    init(
        find: @escaping (Bool) -> (notices: [Notice], next: UInt64?)?, tell: @escaping ([Notice]) -> Void
    ) {
        self.find = find
        self.tell = tell
    }

    /// Looks when that moment comes by the wall clock, or when the clock is set past it.
    func remind(at time: UInt64) {
        guard time < self.time else { return }
        self.time = time
        timer = BrokerActor.shared.loop.timer(clock: .realtime, at: time) { [weak self] in
            self?.time = .max
            self?.remindSoon()
        }
    }

    /// Looks as soon as the loop is free: somebody listens who did not, or keys came.
    func remindSoon(clockWasSet: Bool = false) {
        if clockWasSet { self.clockWasSet = true }
        guard !isAsked else { return }
        isAsked = true
        BrokerActor.start { self.work() }
    }

    private func work() {
        isAsked = false
        guard let (notices, next) = find(clockWasSet) else {
            return remind(at: EventClock.realtime.now + Self.retryMicroseconds)
        }
        clockWasSet = false
        tell(notices)
        if let next { remind(at: next) }
    }
}
