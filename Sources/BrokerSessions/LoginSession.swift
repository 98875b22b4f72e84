/// A session as logind has it.
struct LoginSession: Equatable {
    /// Its object.
    let path: String
    let userID: UInt32
    /// Whether somebody uses it: a greeter, a timer's job and a user's manager are sessions too.
    let isPersons: Bool
    /// Empty where it has none, over ssh for one.
    let seat: String
    var isLocked = false
    /// Whether it is the one that is seen at its seat.
    var isActive = false
    /// Whether its user has logged out of it, and processes that were left behind keep it.
    var isClosing = false

    /// Whether its user is there as far as it goes.
    var isOpen: Bool { isPersons && !isClosing }

    /// `user`, and what later versions of logind have beside it: `user-early`, `user-light`, ….
    static func isPersons(class name: String) -> Bool { name == "user" || name.hasPrefix("user-") }
}
