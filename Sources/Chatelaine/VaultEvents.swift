internal import SDBus

/// The events of access groups, one after the other, for as long as the program asks for the next.
///
/// It ends with its task, and throws only where the policy does not let the program subscribe. When the broker or the
/// bus goes it says so, connects and subscribes again with growing pauses (50 ms to 5 s), and tells of a logout that
/// happened meanwhile. A logout is acknowledged when the next event is asked for; an administrator sees which programs
/// have not.
public struct VaultEvents: AsyncSequence, Sendable {
    private let groups: [String]
    private let handled: [String: UInt64]
    private let endpoint: Endpoint

    /// The events of these groups, or with none named of all that the program has.
    /// - Parameter handled: for each group the epoch of the last logout that the program has handled, from an earlier
    ///   run. Where the broker has another, a logout was missed, and is the first event. Nothing for a program that
    ///   has stored nothing yet.
    public init(groups: [String] = [], handled: [String: UInt64] = [:], at endpoint: Endpoint = .user) {
        self.groups = groups
        self.handled = handled
        self.endpoint = endpoint
        BrokerActor.shared.loop.startThread()
    }

    /// An iterator with a connection of its own, which is made with the first event.
    public func makeAsyncIterator() -> Iterator {
        Iterator(feed: EventFeed(endpoint, groups, handled: handled))
    }

    /// Takes the events as they come.
    public struct Iterator: AsyncIteratorProtocol {
        let feed: EventFeed

        /// The next event; nil when the task was cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(VaultError) -> VaultEvent? {
            try await feed.next()
        }

        /// The same.
        public mutating func next() async throws(VaultError) -> VaultEvent? { try await feed.next() }
    }
}

extension CredentialVault {
    /// The events of the vault's group. `epoch` is that of the last logout that an earlier run has handled.
    public nonisolated func events(handled epoch: UInt64? = nil) -> VaultEvents {
        VaultEvents(groups: [group], handled: epoch.map { [group: $0] } ?? [:], at: link.endpoint)
    }
}
