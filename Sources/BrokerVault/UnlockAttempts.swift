/// Slows wrong passcodes down: the pause doubles from a quarter of a second to half a minute with each wrong
/// one in a row. Attempts queue up, so whoever comes behind a wrong one waits for its pause too.
struct UnlockAttempts {
    private var failures: UInt64 = 0

    /// How long the answer to the wrong passcode that just came is held back, in microseconds.
    mutating func pauseAfterFailure() -> UInt64 {
        failures += 1
        return min(30_000_000, 250_000 << min(failures - 1, 7))
    }

    mutating func succeeded() { failures = 0 }
}
