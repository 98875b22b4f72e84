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
    private var isAtWork = false
    private var isAsked = false
    private var clockWasSet = false

    /// So many are told before other calls go on.
    private static let chunk = 128

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
        isAsked = true
        if clockWasSet { self.clockWasSet = true }
        guard !isAtWork else { return }
        isAtWork = true
        BrokerActor.start { await self.work() }
    }

    private func work() async {
        defer { isAtWork = false }
        while isAsked {
            isAsked = false
            let wasSet = clockWasSet
            clockWasSet = false
            // A store that cannot be read now is looked at when a later call finds it well again.
            guard let (notices, next) = find(wasSet) else { return }
            for start in stride(from: 0, to: notices.count, by: Self.chunk) {
                if start > 0 { try? await BrokerActor.shared.loop.sleep(microseconds: 0) }
                tell(Array(notices[start..<min(start + Self.chunk, notices.count)]))
            }
            if let next { remind(at: next) }
        }
    }
}
