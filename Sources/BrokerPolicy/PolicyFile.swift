/// One policy file as it was read: the room opens nothing itself.
public struct PolicyFile: Sendable {
    /// Where it was found; stands in every message and decides nothing.
    public let path: String
    /// Its bytes, unchecked.
    public let contents: [UInt8]
    /// Who wrote it.
    public let origin: Origin

    /// Whose file it is, and so what it may say.
    public enum Origin: Sendable {
        /// From root's folders, or from `--policy DIR`.
        case system
        /// From the user's own folder (`--user-policy`): applications alone, at user trust at most.
        case user
    }

    /// All three fields.
    public init(path: String, contents: [UInt8], origin: Origin) {
        self.path = path
        self.contents = contents
        self.origin = origin
    }
}
