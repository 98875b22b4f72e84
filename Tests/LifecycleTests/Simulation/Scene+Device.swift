import BrokerDesk
import BrokerModel
import SDBus
import Sodium

extension Scene {
    func endBroker() {
        guard broker.isRunning else { return }
        ledger.count("broker ended")
        device = .away
        broker.stop()
        time.alarm(at: time.monotonic + dice.time(0.5...15)) { self.startBroker() }
    }

    func startBroker() {
        var all = [person.connection: person.program.rawValue]
        for life in lives { all[life.connection] = life.program.rawValue }
        do { try broker.start(all) } catch { ledger.problem("the broker does not start: \(error)") }
        device = hasPasscode ? .beforeFirstUnlock : .unlocked
        unlockLater()
    }

    func lock() {
        locks += 1
        BrokerActor.start {
            let isLocked = await self.asPerson { (desk, context) throws(Refusal) in try desk.lock(context) }
            self.locks -= 1
            // Before the first unlock there is nothing to lock.
            guard isLocked, self.device == .unlocked else { return }
            self.ledger.count("device locked")
            self.device = .locked
            self.unlockLater()
        }
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
        let passcode = Self.passcode()
        BrokerActor.start {
            let isUnlocked = await self.asPerson { (desk, context) throws(Refusal) in
                try desk.unlock(context, passcode)
            }
            guard isUnlocked else { return self.unlockLater() }
            self.ledger.count("device unlocked")
            self.device = .unlocked
        }
    }

    func setPasscode() async {
        let (old, new) = (SharedSecret(Secret(count: 0) { _ in }), Self.passcode())
        hasPasscode = await asPerson { (desk, context) throws(Refusal) in
            try desk.setPasscode(context, old: old, new: new)
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
