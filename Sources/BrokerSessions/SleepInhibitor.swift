internal import SDBus

/// Holds up the machine's sleep until what must be done before it is done. logind waits five seconds for it and no longer
/// (`InhibitDelayMaxSec=`), so that nothing that is stuck here keeps a machine awake.
@BrokerActor final class SleepInhibitor {
    private var held: ReceivedFD?
    private var isAsking = false
    /// Whether it is to be held.
    private var isWanted = false

    /// Asks logind for it, unless it is held. Throws where logind refuses.
    func take(from logind: String, on connection: Connection) async throws(BusError) {
        isWanted = true
        guard held == nil, !isAsking else { return }
        isAsking = true
        defer { isAsking = false }
        let answer = try await connection.call(
            logind, path: Logind.path, interface: Logind.manager, member: "Inhibit", "sleep", "chatelained",
            "Locks the keychain before the machine sleeps", "delay"
        ).read(ReceivedFD.self)
        // Where the machine has begun to sleep meanwhile it is let go at once.
        if isWanted { held = answer }
    }

    /// Gives it up; the machine sleeps when what is returned is released.
    func handOver() -> ReceivedFD? {
        isWanted = false
        defer { held = nil }
        return held
    }
}
