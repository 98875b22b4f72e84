/// Rules that a test breaks, to see that the simulation notices.
struct Switches: Sendable {
    /// Processes ask the server without asking the broker first, and store what they get.
    var refreshesWithoutLease = false
    /// The broker's grants do not outlive it.
    var forgetsGrants = false
    /// Whoever would have to wait for somebody else's refresh is refused at once.
    var refusesToWait = false
    /// A process that dies is not missed, and its connection stays.
    var keepsConnections = false
}
