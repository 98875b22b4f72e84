internal import SDBus
internal import Sodium

/// A secret in memory, and until when.
///
/// Both clocks must say that it is good: the one that goes on while the machine is suspended, which nobody can set, and
/// the wall clock, which the broker's `Expires` is in. A wall clock that reads earlier than when the secret came was set
/// back, so that what it says of an end is worth nothing.
struct CachedSecret: Sendable {
    let secret: SharedSecret
    /// The item's persistent reference.
    let reference: String
    private let revision: UInt64
    private let since: UInt64
    private let wallEnd: UInt64
    private let bootEnd: UInt64

    /// - Parameters:
    ///   - wallEnd: when it expires, in microseconds since the Unix epoch; nil for never.
    ///   - longest: how long it may be kept in memory at most.
    init(
        _ secret: SharedSecret, of reference: String, _ revision: UInt64, wallEnd: UInt64?, longest: UInt64,
        now: Moment = .now
    ) {
        self.secret = secret
        self.reference = reference
        self.revision = revision
        since = now.wall
        self.wallEnd = wallEnd ?? .max
        let left = wallEnd.map { $0 > now.wall ? $0 - now.wall : 0 } ?? .max
        bootEnd = now.boot.adding(min(left, longest))
    }

    /// Whether the item has a later revision.
    func isOlder(than revision: UInt64) -> Bool { self.revision < revision }

    func isGood(at now: Moment) -> Bool {
        now.boot < bootEnd && now.wall >= since && now.wall < wallEnd
    }

    /// Both clocks, in microseconds.
    struct Moment: Sendable {
        var wall: UInt64
        var boot: UInt64

        static var now: Moment { Moment(wall: EventClock.realtime.now, boot: EventClock.boottime.now) }
    }
}
