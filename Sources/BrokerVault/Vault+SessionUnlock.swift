public import BrokerGate
internal import BrokerModel
internal import Sodium

extension Vault {
    /// Whether the keys are sealed at an unlock, so that one of the session's opens them again. Where it is not allowed
    /// any more what was sealed is wiped; where it comes to be, the next passcode begins it.
    public var unlocksWithSession: Bool {
        get { sealsForSession }
        set {
            sealsForSession = newValue
            if !newValue { sessionSeal = nil }
        }
    }

    /// Wipes what was sealed: from here on nothing but the passcode opens the foreground.
    public func forgetSession() { sessionSeal = nil }

    /// The person has unlocked the session: opens what was sealed when the keychain was unlocked last. Nothing happens
    /// where that is not allowed, where somebody has called `Lock` since, and in another state than locked. A lock that
    /// has come since there were so many wins.
    public func unlockWithSession(_ grant: borrowing CustodianGrant, since locksBefore: Int) async {
        await attempts.work.take()
        defer { attempts.work.pass() }
        guard sealsForSession, state == .locked, locks == locksBefore, let deviceKey,
            (try? openStore()) != nil,
            let opened = sessionSeal?.open(deviceKey)
        else { return }
        do throws(Refusal) {
            try await takeKeys(opened, locksBefore)
        } catch {
            surroundings.report(Fault("unlock with the session"))
        }
    }

    /// Seals the keys that were just taken into memory, where that is allowed.
    func sealForSession(_ opened: OpenedKeybag) {
        guard sealsForSession, let deviceKey else { return }
        sessionSeal = SessionSeal(opened, deviceKey)
    }
}
