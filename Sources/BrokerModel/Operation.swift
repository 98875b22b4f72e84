/// What a caller may do to the items of a group; the words of `Operations=` in the policy.
public enum Operation: String, CaseIterable, Sendable {
    case read
    case search
    case add
    case update
    case delete
    case refresh
    case subscribe
    case logout
}
