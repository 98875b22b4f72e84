import SDBus

/// One run of a program, from its start until it is killed.
@BrokerActor final class Life {
    let connection: String
    let program: Program
    /// When it was killed, by the monotonic clock.
    private(set) var killed: UInt64?

    init(_ program: Program, number: Int) {
        self.program = program
        connection = ":1.\(number)"
    }

    var isAlive: Bool { killed == nil }

    func kill(at time: UInt64) { killed = killed ?? time }

    /// To be asked after everything that took time.
    func check() throws(CallFailure) {
        if !isAlive { throw .killed }
    }
}

/// What a process is to the policy.
enum Program: String, CaseIterable {
    case mail = "demo-mail"
    case sync = "demo-sync"
    case tool = "demo-inbox"

    /// The helper has the background role: foreground items are nothing to it.
    var accounts: [Account] { self == .sync ? [.background] : [.background, .foreground] }
}

/// The two items, each with tokens of a sign-in of its own.
enum Account: String, CaseIterable {
    case background = "mail"
    case foreground = "drafts"

    var accessible: String { self == .background ? "after-first-unlock" : "when-unlocked" }
}
