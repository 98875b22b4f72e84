internal import SDBus

/// The broker's loop for a test process: there is one, and all tests share it. None may block it.
public enum TestLoop {
    private static let started: Void = BrokerActor.shared.loop.startThread()

    /// Starts it the first time. Call this from a suite's `init`, which must not be isolated to the actor.
    public static func start() {
        started
    }
}
