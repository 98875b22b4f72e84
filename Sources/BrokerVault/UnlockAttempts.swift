internal import BrokerModel

/// Slows wrong passcodes down: the pause doubles from a quarter of a second to half a minute with each wrong
/// one in a row.
///
/// The user's programs try one after the other, so whoever comes behind a wrong one waits for its pause too. An
/// administrator, who speaks for whoever logs in, waits for none of them: what a program of the user does cannot
/// hold up the login.
final class UnlockAttempts {
    /// The user's programs, one attempt at a time, its pause included.
    let guesses = Turns()
    /// Whoever works on the keybag, the administrator too.
    let work = Turns()
    private var failures: UInt64 = 0
    private var pauseOwed: UInt64?

    /// A passcode was wrong.
    func failed() {
        failures += 1
        pauseOwed = min(30_000_000, 250_000 << min(failures - 1, 7))
    }

    func succeeded() { failures = 0 }

    /// How long the answer to the attempt that just failed is held back, in microseconds; nil where there is no
    /// reason to.
    func takePause() -> UInt64? {
        defer { pauseOwed = nil }
        return pauseOwed
    }
}
