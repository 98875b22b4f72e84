/// What the evidence of an identity is worth: who could pretend to be it (POLICY, Trust).
public enum Trust: String, CaseIterable, Comparable, Sendable {
    /// The user id alone: every process of the user.
    case user
    /// Something a process of the same user would have to borrow or forge.
    case file
    /// Fixed by the kernel when the connection was made.
    case kernel

    /// Weaker evidence first.
    public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .user: 0
        case .file: 1
        case .kernel: 2
        }
    }
}
