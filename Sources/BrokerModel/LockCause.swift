/// What locks a keychain beside its owner's own call; the words of `LockOn=` and of the journal.
public enum LockCause: String, Sendable, CaseIterable {
    /// A session of the user was locked.
    case sessionLock = "session-lock"
    /// The machine is about to sleep.
    case sleep
    /// The user's last session has ended.
    case sessionEnd = "session-end"
    /// Somebody else has the seat that the user sat at.
    case seatSwitch = "seat-switch"
    /// The screen saver of a desktop that does not tell logind of its lock.
    case screenSaver = "screen-saver"

    /// Whether the passcode is asked for after it, whatever the session says: a machine that sleeps may be carried
    /// away, and who logs in anew shows a password.
    public var endsSession: Bool { self == .sleep || self == .sessionEnd }

    /// What `LockOn=` says: `none`, or words between white space. Nil where one is not known.
    public static func set(from text: String) -> Set<LockCause>? {
        if text == "none" { return [] }
        let words = text.split { $0 == " " || $0 == "\t" }
        let causes = words.compactMap { LockCause(rawValue: String($0)) }
        return causes.count == words.count ? Set(causes) : nil
    }

    /// What `LockOn=` may say, for a person.
    public static var usage: String { "none, or of " + allCases.map(\.rawValue).joined(separator: ", ") }
}
