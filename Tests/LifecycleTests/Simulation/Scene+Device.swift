import BrokerDesk
import BrokerModel
import SDBus
import Sodium

extension Scene {
    func endBroker() {
        guard broker.isRunning else { return }
        ledger.count("broker ended")
        ledger.disturbed(at: time.monotonic)
        broker.stop()
        time.alarm(at: time.monotonic + dice.time(0.5...15)) { self.startBroker() }
    }

    func startBroker() {
        var all = [person.connection: person.program.rawValue]
        for life in lives { all[life.connection] = life.program.rawValue }
        do { try broker.start(all) } catch { ledger.problem("the broker does not start: \(error)") }
        unlockLater()
    }

    func lock() {
        ledger.count("device locked")
        ledger.disturbed(at: time.monotonic)
        asPerson { (desk, context) throws(Refusal) in try desk.lock(context) }
        unlockLater()
    }

    func unlockLater() {
        guard !isUnlockComing else { return }
        isUnlockComing = true
        time.alarm(at: time.monotonic + dice.time(5...120)) {
            self.isUnlockComing = false
            self.unlock()
        }
    }

    func unlock() {
        ledger.count("device unlocked")
        let passcode = Self.passcode()
        BrokerActor.start {
            do throws(CallFailure) {
                try await self.broker.call(self.person.connection) { (desk, context) throws(Refusal) in
                    try desk.unlock(context, passcode)
                }
            } catch {
                self.unlockLater()
            }
        }
    }

    func setPasscode() async {
        let (old, new) = (SharedSecret(Secret(count: 0) { _ in }), Self.passcode())
        do throws(CallFailure) {
            try await broker.call(person.connection) { (desk, context) throws(Refusal) in
                try desk.setPasscode(context, old: old, new: new)
            }
        } catch {
            ledger.problem("no passcode could be set: \(error)")
        }
    }

    private static func passcode() -> SharedSecret { SharedSecret(Secret(copying: Array("1234".utf8).span)) }

    // Back to the right time in a while.
    func setClock() {
        ledger.count("wall clock set")
        let seconds = Int64.random(in: -172_800...172_800, using: &dice)
        time.wallOffset = seconds * 1_000_000
        time.alarm(at: time.monotonic + dice.time(60...1800)) { self.time.wallOffset = 0 }
    }
}
