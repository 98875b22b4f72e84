internal import SDBus

/// The broker's loop for a test process: there is one, and all tests share it. None may block it.
public enum TestLoop {
    /// The end of a call of a test that is not about time: the suites share the pool's threads too, and on a machine
    /// with much to do each step of a test may wait long for one.
    public static let patienceMicroseconds: UInt64 = 300_000_000

    private static let started: Void = BrokerActor.shared.loop.startThread()

    /// Starts it the first time. Call this from a suite's `init`, which must not be isolated to the actor.
    public static func start() {
        started
    }
}
