/// Whom the broker asks where a person or the administrator has to allow something: polkit, with `--system`.
public protocol Authority: Sendable {
    /// Asks whether the caller behind the connection may do the action. It returns when there is an answer: a
    /// person may have to type a password first, if `allowsInteraction` lets the authority ask one.
    func allows(
        _ connection: String, facts: PeerFacts, action: String, allowsInteraction: Bool
    ) async -> Authorization

    /// The connection is gone: nobody is to be asked on its behalf any longer. Called where the broker's calls run.
    func connectionGone(_ connection: String)
}

/// What the authority says.
public enum Authorization: Sendable, Equatable {
    /// Yes.
    case allowed
    /// No, or nothing that could be taken for a yes.
    case denied
    /// This machine has no authority. What that means depends on the action.
    case unreachable
}

/// The actions that the authority knows (`policy/org.chatelaine.policy`).
public enum AuthorityAction {
    /// What an administrator does.
    public static let manage = "org.chatelaine.manage"
    /// Is asked for by an item that demands the person's presence.
    public static let present = "org.chatelaine.present"
    /// Sets or changes the passcode of the caller's own keychain.
    public static let setPasscode = "org.chatelaine.set-passcode"
    /// Removes it, and with it what the passcode alone protects.
    public static let removePasscode = "org.chatelaine.remove-passcode"
    /// Makes or removes the recovery key of the caller's own keychain.
    public static let recoveryKey = "org.chatelaine.recovery-key"
    /// Opens it by that key, and loses what may not leave its device.
    public static let recover = "org.chatelaine.recover"
}
