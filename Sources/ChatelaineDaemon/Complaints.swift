internal import SDBus

/// Says what is wrong, and the same again only after a while, however often somebody runs into it.
@BrokerActor final class Complaints {
    private let log: Log
    private var saidMicroseconds: [String: UInt64] = [:]

    private static let pauseMicroseconds: UInt64 = 10_000_000

    init(_ log: Log) { self.log = log }

    func say(_ text: String) {
        let now = BrokerActor.shared.loop.now()
        if let said = saidMicroseconds[text], now < said + Self.pauseMicroseconds { return }
        saidMicroseconds[text] = now
        log.write(.error, text)
    }
}
